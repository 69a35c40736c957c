import type { ConfigProblem } from '../../../application/ports/config.ts';
import { withoutUndefined } from '../../../domain/json.ts';
import type { Values } from './config-tree.ts';
import { type Environment, shownName, variableText } from './environment.ts';
import { expandPath } from './files.ts';
import { KEYS } from './keys.ts';
import { debugFile, debugFlag, type Report, type ValueKind } from './value-kinds.ts';

/** What one source (a YAML file, the environment) says about the configuration. */
export interface Layer {
  readonly values: Values;
  readonly problems: readonly ConfigProblem[];
  /** The YAML file, if it was read. */
  readonly file?: string;
}

/** The options of the command line as they were typed: `--debug=x` is `{'--debug': 'x'}`, a bare `--debug` has the value ''. */
export type CommandLineOptions = Readonly<Record<string, string>>;

/** The keys that environment variables set (spec 5.4), and these variables. */
export function readEnvironment(environment: Environment): Layer & { readonly names: readonly string[] } {
  const names = new Set<string>();
  const problems: ConfigProblem[] = [];
  const values = new Map<string, unknown>();
  for (const { path, kind, variable, isSharedVariable } of KEYS) {
    const text = variable === undefined ? '' : variableText(environment, variable);
    if (variable === undefined || text === '') continue;
    const value = kind.fromText(text);
    if (value !== undefined) {
      values.set(path, value);
      names.add(variable);
    } else if (!isSharedVariable) reportUnaccepted(kind, text, reportIn(problems, variable));
  }
  return { values, problems, names: [...names] };
}

/** Adds problems with the key or the variable `where`, and with its members. */
export function reportIn(problems: ConfigProblem[], where: string, file?: string): Report {
  return (member, message, received) => {
    const value = received === undefined ? undefined : toText(received);
    problems.push(withoutUndefined({ where: member === '' ? where : `${where}.${member}`, value, message, file }));
  };
}

/** Reports a value that a kind does not accept, without what may be a secret. */
export function reportUnaccepted(
  { accepted, isSecret, namesSecret }: ValueKind,
  received: unknown,
  report: Report,
): void {
  const shown = namesSecret ? shownName(toText(received)) : received;
  report('', `expected ${accepted}`, isSecret ? undefined : shown);
}

/** JSON cannot express `.inf` and `.nan`. */
function toText(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
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
  return values;
}
