import type { ValueReference } from '../../../application/ports/values.ts';
import { isObject, parseJson } from '../../../domain/values/json.ts';
import { attempted } from '../files/local-files.ts';
import type { Report } from './problems.ts';
import type { ServerEntry } from './server-entry.ts';
import type { FileEntry } from './servers-file.ts';
import { commandOf } from './value-references.ts';

/** The key of Claude Code with a command that prints the headers of a remote server. */
const KEY = 'headersHelper';

/** The command of an entry that prints headers, with the variables of Claude Code. */
export function toHelper(
  words: readonly string[],
  { references, folder }: FileEntry,
  { name, connection }: ServerEntry,
): ValueReference {
  const url = connection.kind === 'remote' ? connection.url : '';
  const variables = { CLAUDE_CODE_MCP_SERVER_NAME: name, CLAUDE_CODE_MCP_SERVER_URL: url };
  return { ...commandOf(words, references.folder ?? folder), variables };
}

/** The entry, whose command is run before the server connects. */
export function withHelper(entry: ServerEntry, reference: ValueReference): ServerEntry {
  return { ...entry, values: [...(entry.values ?? []), { key: KEY, reference }] };
}

/** The entry with the headers that the command has printed, which win over those of the file. */
export function withHeaders(
  entry: ServerEntry,
  reference: ValueReference,
  values: ReadonlyMap<string, string>,
  report: Report,
): ServerEntry {
  const { connection } = entry;
  const printed = parseJson(values.get(JSON.stringify(reference)) ?? '');
  const isSendable = ([name, text]: readonly [string, unknown]) =>
    typeof text === 'string' && attempted(() => new Headers({ [name]: text })) !== undefined;
  if (connection.kind === 'child' || !isObject(printed) || !Object.entries(printed).every(isSendable)) {
    report(KEY, 'expected a command that prints a JSON object of headers, such as {"Authorization": "Bearer ..."}');
    return entry;
  }
  const names = Object.keys(printed).map((name) => name.toLowerCase());
  const others = Object.entries(connection.headers).filter(([name]) => !names.includes(name.toLowerCase()));
  const headers = { ...Object.fromEntries(others), ...(printed as Readonly<Record<string, string>>) };
  return { ...entry, connection: { ...connection, headers } };
}
