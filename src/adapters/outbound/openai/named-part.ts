import { MAX_EXAMINED } from '../../../domain/values/clean-text.ts';

/** What a message can call a part of a request: its path, such as `reasoning.effort`, or its value. */
export interface PartWords {
  readonly path: string;
  readonly value: unknown;
}

/** Members that a request needs. If one of them is refused, no other part is meant. */
const NEEDED: ReadonlySet<string> = new Set(['model', 'input', 'instructions', 'store']);

/**
 * The part that the message of a rejection names first, otherwise the one whose value it quotes. It is read if no member of the rejection names a part:
 * some servers have none, others name the search tool if it cannot be combined with an effort.
 */
export function partNamedIn<Part extends { readonly words?: PartWords }>(
  { param, message }: { readonly param: string; readonly message: string },
  parts: readonly Part[],
): Part | undefined {
  if (NEEDED.has(param.split(/[.[]/)[0] ?? '')) return undefined;
  const mentions = [...message.slice(0, MAX_EXAMINED).matchAll(MENTION)].map(({ groups = {} }) => groups);
  // A word of English such as "text" is a name only in quotation marks, or after a word such as "parameter".
  const names = mentions.map(({ quoted, head, listed, last, plain = '' }) =>
    toName(quoted ?? head ?? listed ?? last ?? plain),
  );
  if (NEEDED.has(names[0]?.split('_')[0] ?? '')) return undefined;
  const values = mentions.map(({ quoted }) => quoted).filter((text) => text !== undefined);
  const isNamed = (name: string, { words }: Part) =>
    words !== undefined && namesOf(words).some((other) => isWithin(name, other));
  const isQuoted = (text: string, { words }: Part) => [words?.value].flat().includes(text);
  return firstWith(names, parts, isNamed) ?? firstWith(values, parts, isQuoted);
}

/** A name in quotation marks; before a colon, or alone on its line; after a word that announces it; as the last word, after a colon; or no word of English. */
const MENTION =
  /["'`‘“„«「『[](?<quoted>[\w.[\]]{1,80})["'`’”“»」』\]]|(?<=^|[:;]\s|\n)(?<head>[\w.[\]]{1,80})(?=:\s|\n)|\b(?:[Pp]arameter|[Aa]rgument|[Ff]ield|[Pp]roperty|[Oo]ption)s?(?: supplied| name)?[:\s]{1,3}(?<listed>[\w.[\]]{1,80})|:\s(?<last>[\w.[\]]{1,80}?)\.?$|\b(?<plain>[A-Za-z]{1,40}(?:[._[][\w[\]]{1,40}){1,6}|[a-z]{1,40}(?:[A-Z][a-z]{1,40}){1,4}|[Rr]easoning effort|[Vv]erbosity|[Ss]ervice tier|[Ss]tream(?:ing|ed)?|[Ss]erver-sent events|(?:[Rr]easoning|[Tt]hinking)(?= (?:is|are) )|(?<=\b(?:support|enable|allow|accept)s? )(?:reasoning|thinking))\b/gu;

/** The first part that one of the texts means; earlier texts come first. */
function firstWith<Part>(
  texts: readonly string[],
  parts: readonly Part[],
  isMeant: (text: string, part: Part) => boolean,
): Part | undefined {
  for (const text of texts) {
    const part = parts.find((part) => isMeant(text, part));
    if (part !== undefined) return part;
  }
  return undefined;
}

/** One spelling of a name: `reasoning.effort`, `reasoningEffort` and `reasoning effort` are `reasoning_effort`. */
function toName(text: string): string {
  const name = text
    // The type of a back end in front of the path, such as `ResponsesRequest.text`.
    .replace(/^[A-Z]\w*\./, '')
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/^(?:body|request)\./, '')
    .replace(/\[\d{0,9}\]/g, '')
    .replace(/[-.\s]/g, '_');
  return OTHER_NAMES.get(name) ?? name;
}

/** Names by which servers call a part, and values that stand for it. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['streaming', 'stream'],
  ['streamed', 'stream'],
  ['server_sent_events', 'stream'],
  ['thinking', 'reasoning'],
  ['max_tokens', 'max_output_tokens'],
  ['max_completion_tokens', 'max_output_tokens'],
  ['web_search_call_action_sources', 'include'],
  ['reasoning_encrypted_content', 'include'],
]);

/** The names of a part. The member of `reasoning.mode` is none, because other objects have a mode, too. */
function namesOf({ path }: PartWords): readonly string[] {
  const [name = '', member] = path.split('.');
  if (member === undefined) return [name];
  return member === 'mode' ? [`${name}_${member}`] : [`${name}_${member}`, member];
}

function isWithin(name: string, other: string): boolean {
  return name === other || name.startsWith(`${other}_`);
}
