import { type Environment, shownName, variableText } from '../network/environment.ts';
import type { Values } from './config-tree.ts';
import { expandPath } from './files.ts';
import { KEYS } from './keys.ts';
import type { ReadContext, ValueKind } from './kinds.ts';
import { type Report, toText } from './problems.ts';
import { debugFile, debugFlag } from './value-kinds.ts';

/** The options of the command line as they were typed: `--debug=x` is `{'--debug': 'x'}`, a bare `--debug` has the value ''. */
export type CommandLineOptions = Readonly<Record<string, string>>;

/** The keys that environment variables set (spec 5.4), and these variables. */
export function readEnvironment(environment: Environment, report: Report) {
  const names = new Set<string>();
  const values = new Map<string, unknown>();
  for (const { path, kind, variable, isSharedVariable } of KEYS) {
    if (variable === undefined) continue;
    const text = variableText(environment, variable);
    const value = text === '' ? undefined : kind.fromText(text);
    if (value !== undefined) {
      values.set(path, value);
      names.add(variable);
    } else if (text !== '' && !isSharedVariable) reportUnaccepted(kind, text, variable, report);
  }
  return { values, names: [...names] };
}

/** A value as a kind reads it. One that is not accepted is reported. */
export function readValue<T>(kind: ValueKind<T>, value: unknown, context: ReadContext): T | undefined {
  const read = kind.fromYaml(value, context);
  if (read === undefined) reportUnaccepted(kind, value, context.where, context.report);
  return read;
}

/** Without what may be a secret. */
export function reportUnaccepted(kind: ValueKind, received: unknown, where: string, report: Report): void {
  const shown = kind.namesSecret ? shownName(toText(received)) : received;
  report(where, `expected ${kind.accepted}`, kind.isSecret ? undefined : shown);
}

/** The keys that options set: a bare `--debug`, `--offline` or `--http` enables, a value says where. */
export function readOptions(options: CommandLineOptions): Values {
  const { '--debug': debug, '--offline': offline, '--record': record, '--http': http, '--servers': servers } = options;
  const values = new Map<string, unknown>();
  if (debug !== undefined) {
    // Here a value that is not a switch is a file, whatever its name (ruling 15 is about the variable).
    const isOn = debug === '' ? true : debugFlag.fromText(debug);
    const isFile = isOn === undefined || debugFile.fromText(debug) !== undefined;
    values.set('server.debug', isFile || isOn);
    if (isFile) values.set('server.debug_file', expandPath(debug));
  }
  if (offline !== undefined) values.set('llm.adapter', 'offline');
  if (offline) values.set('llm.recordings', expandPath(offline));
  if (record !== undefined) values.set('llm.record', expandPath(record));
  if (http) values.set('http.listen', http);
  if (servers !== undefined) values.set('gateway.servers_file', expandPath(servers));
  if (options['--expose'] !== undefined) values.set('gateway.expose', true);
  if (options['--check'] !== undefined) values.set('citations.check', 'evidence');
  return values;
}
