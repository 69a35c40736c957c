import { textIn, toContentBlock } from '../../../domain/gateway/tool-result.ts';
import { reasonOf } from '../../../domain/values/certificate-problem.ts';
import { cleanLine, withoutUnsafeCharacters } from '../../../domain/values/clean-text.ts';
import { toJsonText } from '../../../domain/values/exact-number.ts';
import { isObject, type JsonObject } from '../../../domain/values/json.ts';
import { redactedJson } from '../../../domain/values/redaction.ts';
import { unwritableFile } from '../words/tool-error-messages.ts';
import type { CommandContext } from './terminal.ts';

/** Writes data to a new file with this name, a number and this ending, and returns its path. Rejects if it cannot be written. */
export type SaveFile = (name: string, ending: string, data: Uint8Array) => Promise<string>;

export interface PrintOptions extends CommandContext {
  readonly json: boolean;
  readonly tool: string;
  /** Absent if the data of a result is only named. */
  readonly save?: SaveFile | undefined;
}

/** The result of a call for people. */
interface ShownResult {
  readonly content: readonly JsonObject[];
  /** Shown if no text of the content repeats it. */
  readonly structured?: unknown;
}

/**
 * Prints the result of a call: with `json` the complete `response`, otherwise texts as texts, and one line for everything else. Returns whether all data
 * that should be saved was written.
 */
export async function printResult(result: ShownResult, response: JsonObject, options: PrintOptions): Promise<boolean> {
  const { json, redactor, out, err, isTerminal } = options;
  const print = (text: string, write: (text: string) => unknown) => {
    const shown = isTerminal ? withoutUnsafeCharacters(text) : text;
    write(shown.endsWith('\n') ? shown : `${shown}\n`);
  };
  if (json) print(redactedJson(response, redactor.anywhere, 2), out);
  const { content, structured } = result;
  let areAllSaved = true;
  for (const block of content) {
    const data = json && options.save === undefined ? undefined : dataIn(block);
    if (data === undefined) {
      if (!json) print(redactor.anywhere(lineFor(block)), out);
      continue;
    }
    const saved = await savedLine(data, options);
    areAllSaved &&= saved.reason === undefined;
    // After `--json`, standard output has only the response.
    print(saved.line, json || saved.reason !== undefined ? (text) => err.write(text) : out);
  }
  const hasText = content.some((block) => textIn(block) !== undefined);
  const isShown = structured === undefined ? content.length === 0 : !hasText;
  if (!json && isShown) print(redactedJson(structured ?? null, redactor.anywhere, 2), out);
  return areAllSaved;
}

/** Data of a block that is no text. */
interface Data {
  readonly what: string;
  readonly mimeType: string;
  /** In base64. */
  readonly base64: string;
}

function dataIn(block: JsonObject): Data | undefined {
  const { type, resource, data, mimeType } = toContentBlock(block) as JsonObject;
  if ((type === 'image' || type === 'audio') && typeof data === 'string') {
    return { what: type, mimeType: String(mimeType ?? ''), base64: data };
  }
  if (type !== 'resource' || !isObject(resource) || typeof resource.blob !== 'string') return undefined;
  return { what: `data of ${String(resource.uri)}`, mimeType: String(resource.mimeType ?? ''), base64: resource.blob };
}

function lineFor(block: JsonObject): string {
  const text = textIn(block);
  if (text !== undefined) return text;
  const read = toContentBlock(block) as JsonObject;
  if (read.type === 'resource' && isObject(read.resource) && typeof read.resource.text === 'string') {
    return read.resource.text;
  }
  if (read.type === 'resource_link' && typeof read.uri === 'string') {
    return cleanLine(`${String(read.title ?? read.name ?? 'resource')}: ${read.uri}`);
  }
  return toJsonText(block);
}

async function savedLine({ what, mimeType, base64 }: Data, { tool, save }: PrintOptions) {
  const bytes = Buffer.from(base64, 'base64');
  if (save === undefined) {
    const type = cleanLine(`${what}${mimeType === '' ? '' : `, ${mimeType}`}`);
    return { line: `[${type}, ${bytes.length} bytes; --save=<folder> writes it to a file]` };
  }
  try {
    return { line: await save(tool, endingFor(mimeType), bytes) };
  } catch (error) {
    const reason = reasonOf(error);
    return { line: unwritableFile(tool, reason), reason };
  }
}

/** The usual endings of files whose MIME type has another name. */
const ENDINGS: Readonly<Record<string, string>> = {
  'image/jpeg': 'jpg',
  'image/vnd.microsoft.icon': 'ico',
  'audio/mpeg': 'mp3',
  'audio/mp4': 'm4a',
  'text/plain': 'txt',
  'text/markdown': 'md',
  'text/javascript': 'js',
  'application/gzip': 'gz',
};

/** The ending of a file: that of its MIME type (`image/svg+xml`: svg, `audio/x-wav`: wav), or `bin`. */
function endingFor(mimeType: string): string {
  const [type = ''] = mimeType
    .toLowerCase()
    .split(';', 1)
    .map((part) => part.trim());
  const [, subtype] = /^[a-z]+\/(?:x-)?([a-z0-9]{1,8})(?:\+[a-z]+)?$/.exec(type) ?? [];
  return ENDINGS[type] ?? subtype ?? 'bin';
}
