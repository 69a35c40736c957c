import type { ConfigProblem } from '../../../application/ports/config.ts';
import type { OwnCommand } from '../../../domain/gateway/own-command.ts';
import { isObject } from '../../../domain/values/json.ts';
import { expandPath } from '../files/local-files.ts';
import { type Environment, variableText } from '../network/environment.ts';
import { DEFAULTS, KEYS, toConfigTree } from './keys.ts';
import { reportUnaccepted } from './kinds.ts';
import { type Report, reporter } from './problems.ts';
import type { Values } from './table.ts';
import { debugFile, debugFlag } from './value-kinds.ts';
import type { YamlFile } from './yaml-file.ts';

/** The options of the command line as they were typed: `--debug=x` is `{'--debug': 'x'}`, a bare `--debug` has the value ''. An option that may be repeated has a list. */
export type CommandLineOptions = Readonly<Record<string, string | readonly string[]>>;

/** The values of an option, in their order. */
export function optionTexts(options: CommandLineOptions, name: string): readonly string[] {
  return Object.hasOwn(options, name) ? [options[name] ?? []].flat() : [];
}

/** The value of an option that counts once. */
export function optionText(options: CommandLineOptions, name: string): string | undefined {
  return optionTexts(options, name).at(-1);
}

export interface ConfigOptions {
  readonly environment: Environment;
  readonly commandLine: CommandLineOptions;
  readonly version: string;
  /** How a person starts the program. */
  readonly startCommand?: () => OwnCommand;
  /** Whether the configuration is read again while the program runs. An empty file is then a problem. */
  readonly isReload?: boolean;
  /**
   * For a check that needs no secrets and starts nothing: receives the variables that are not set, which are then no problems. The section `http` is
   * checked, too, if it is configured.
   */
  readonly unset?: ConfigProblem[] | undefined;
  /** Whether the file of `gateway.lock` is to be written, so that it may be missing or damaged. */
  readonly writesLock?: boolean;
}

/** The profiles of the example configuration, without models. */
const TUNED = {
  answer_detailed: { reasoning_effort: 'high', verbosity: 'high', search_context_size: 'high', max_tool_calls: 30 },
  answer_quick: { reasoning_effort: 'low', verbosity: 'low', search_context_size: 'low', max_tool_calls: 3 },
};
const TUNED_KEYS = Object.entries(TUNED).flatMap(([tool, keys]) =>
  Object.entries(keys).map(([key, value]) => [`model_profiles.${tool}.${key}`, value] as const),
);

/** The configuration with the keys that are set: by YAML, then by the environment, then by the command line. */
export async function readSetKeys(
  { environment, commandLine, isReload = false }: ConfigOptions,
  file: string | undefined,
  problems: ConfigProblem[],
) {
  const label = `${commandLine['--config'] === undefined ? '' : '--config '}${file}`;
  // The parser takes time to load, and most clients have no file.
  const { text, values: yaml }: YamlFile =
    file === undefined
      ? { values: new Map() }
      : (await import('./yaml-file.ts')).readYamlFile(file, label, isReload, problems);
  const { values: variables, names } = readEnvironment(environment, reporter(problems));
  const options = readOptions(commandLine);
  const isTuned = yaml.has('model_profiles.preset') || variables.has('model_profiles.preset');
  // The keys of a chosen preset count as configured.
  const set = [...(isTuned ? TUNED_KEYS : []), ...yaml, ...variables, ...options];
  const values = merged(set);
  const unaccepted = problems.map(({ where }) => where);
  /** Where a key is set: in the option, else the variable, else the file. */
  const sourceOf = (path: string): { readonly where: string; readonly file?: string | undefined } => {
    const { variable = path, option } = KEYS.find((key) => key.path === path) ?? {};
    if (option !== undefined && options.has(path)) return { where: `${option} (${path})` };
    if (variables.has(path)) return { where: variable };
    return yaml.has(path) ? { where: path, file } : { where: path };
  };
  return {
    config: toConfigTree(values),
    values,
    /** The text of the YAML file. */
    text,
    /** The paths of the keys that are set, rather than defaults. */
    explicit: new Set(set.map(([path]) => path)),
    /** The variables that set keys. */
    names,
    /** Reports a problem with a key, and names its source. */
    report: (path: string, message: string, received?: unknown) => {
      const { where, file } = sourceOf(path);
      // A key whose value was not accepted is already reported, and only looks as if it were missing.
      if (!unaccepted.includes(path)) reporter(problems, file)(where, message, received);
    },
  };
}

/** The defaults, replaced by the keys that are set. Maps, such as those of tokens, are merged. */
function merged(set: readonly (readonly [string, unknown])[]): Values {
  // A profile that is removed has no defaults.
  const removed = set.filter(([, value]) => value === null).map(([path]) => `${path}.`);
  const values = new Map([...DEFAULTS].filter(([path]) => !removed.some((section) => path.startsWith(section))));
  for (const [path, value] of set) {
    const below = values.get(path);
    values.set(path, isObject(value) && isObject(below) ? { ...below, ...value } : value);
  }
  return values;
}

/** The keys that environment variables set, and these variables. */
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

/** The keys that options set. A bare `--debug`, `--offline` or `--http` enables; a value also sets the path or the address. */
function readOptions(options: CommandLineOptions): Values {
  const [debug, offline, record, http, expose] = ['--debug', '--offline', '--record', '--http', '--expose'].map(
    (name) => optionText(options, name),
  );
  const servers = optionTexts(options, '--servers');
  const values = new Map<string, unknown>();
  if (debug !== undefined) {
    // Unlike in the variable `DEBUG`, a value that is not a switch is always a file.
    const isOn = debug === '' ? true : debugFlag.fromText(debug);
    const isFile = isOn === undefined || debugFile.fromText(debug) !== undefined;
    values.set('server.debug', isFile || isOn);
    if (isFile) values.set('server.debug_file', expandPath(debug));
  }
  if (offline !== undefined) values.set('llm.adapter', 'offline');
  if (offline) values.set('llm.recordings', expandPath(offline));
  if (record !== undefined) values.set('llm.record', expandPath(record));
  if (http) values.set('http.listen', http);
  if (servers.length > 0)
    values.set(
      'gateway.servers_file',
      servers.map((file) => expandPath(file)),
    );
  if (expose !== undefined) values.set('gateway.expose', expose || true);
  if (options['--check'] !== undefined) values.set('citations.check', 'evidence');
  return values;
}
