import type { ConfigProblem } from '../../../application/ports/config.ts';
import { type Environment, shownName, variableText } from './environment.ts';
import { expandPath } from './files.ts';
import { KEYS, type KindSpec, type Values } from './keys.ts';
import * as kinds from './value-kinds.ts';

/** What one source (a YAML file, the environment) says about the configuration. */
export interface Layer {
  readonly values: Values;
  readonly problems: readonly ConfigProblem[];
  /** The YAML file, if it was read. */
  readonly file?: string;
}

/** The options of the command line as they were typed: `--debug=x` is `{'--debug': 'x'}`, a bare `--debug` has the value ''. */
export type CommandLineOptions = Readonly<Record<string, string>>;

/** The keys that environment variables set (spec 5.4), and these variables. Relative paths start at the current folder. */
export function readEnvironment(environment: Environment): Layer & { readonly names: readonly string[] } {
  const names = new Set<string>();
  const problems: ConfigProblem[] = [];
  const values = new Map<string, unknown>();
  for (const { path, kind: spec, variable, isSharedVariable } of KEYS) {
    if (variable === undefined) continue;
    const text = variableText(environment, variable);
    if (text === '') continue;
    const kind = toKind(spec);
    const value = kind.fromText(text);
    if (value !== undefined) {
      values.set(path, kind.isPath ? expandPath(String(value)) : value);
      names.add(variable);
    } else if (!isSharedVariable) {
      const shown = kind.namesSecret ? shownName(text) : text;
      const message = `expected ${kind.accepted}`;
      problems.push(kind.isSecret ? { where: variable, message } : { where: variable, value: shown, message });
    }
  }
  return { values, problems, names: [...names] };
}

/** The keys that options set: a bare `--debug`, `--offline` or `--http` enables, a value says where. */
export function readOptions(options: CommandLineOptions): Values {
  const { '--debug': debug, '--offline': offline, '--record': record, '--http': http, '--servers': servers } = options;
  const values = new Map(debug === undefined ? [] : readDebug(debug));
  if (offline !== undefined) values.set('llm.adapter', 'offline');
  if (offline) values.set('llm.recordings', expandPath(offline));
  if (record !== undefined) values.set('llm.record', expandPath(record));
  if (http) values.set('http.listen', http);
  if (servers !== undefined) values.set('gateway.servers_file', expandPath(servers));
  if (options['--expose'] !== undefined) values.set('gateway.expose', true);
  return values;
}

/** Here a value that is not a switch is a file, whatever its name (ruling 15 is about the variable). */
function readDebug(text: string): (readonly [string, unknown])[] {
  const isOn = text === '' ? true : kinds.debugFlag.fromText(text);
  const isFile = isOn === undefined || kinds.debugFile.fromText(text) !== undefined;
  return [['server.debug', isFile || isOn], ...(isFile ? [['server.debug_file', expandPath(text)] as const] : [])];
}

export function toKind(spec: KindSpec): kinds.ValueKind {
  const [name, ...args] = typeof spec === 'string' ? [spec] : spec;
  const kind = (kinds as Readonly<Record<string, unknown>>)[name];
  return typeof kind === 'function' ? kind(...args) : (kind as kinds.ValueKind);
}
