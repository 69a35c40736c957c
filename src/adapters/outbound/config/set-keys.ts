import type { ConfigProblem } from '../../../application/ports/config.ts';
import { isObject } from '../../../domain/values/json.ts';
import type { Environment } from '../network/environment.ts';
import { DEFAULTS, toConfigTree, type Values } from './config-tree.ts';
import { KEYS } from './keys.ts';
import { type CommandLineOptions, readEnvironment, readOptions } from './layers.ts';
import { reporter } from './problems.ts';

interface SetKeysOptions {
  readonly environment: Environment;
  readonly commandLine: CommandLineOptions;
  readonly isReload: boolean;
  /** The path of the YAML file, if there is one. */
  readonly file: string | undefined;
}

/** The keys that each source sets. */
interface Sources {
  readonly yaml: Values;
  readonly variables: Values;
  readonly options: Values;
  readonly file: string | undefined;
}

/** The configuration with the keys that are set: by YAML, then by the environment, then by the command line (spec 5.1, 8.1). */
export async function readSetKeys({ environment, commandLine, isReload, file }: SetKeysOptions) {
  const [ofYaml, ofVariables]: [ConfigProblem[], ConfigProblem[]] = [[], []];
  const label = `${commandLine['--config'] === undefined ? '' : '--config '}${file}`;
  const yaml: Values =
    file === undefined ? new Map() : (await import('./yaml-file.ts')).readYamlFile(file, label, isReload, ofYaml);
  const { values: variables, names } = readEnvironment(environment, reporter(ofVariables));
  const options = readOptions(commandLine);
  const { values, explicit } = merged([...yaml, ...variables, ...options]);
  const sources = { yaml, variables, options, file };
  return {
    config: toConfigTree(values),
    values,
    /** The paths of the keys that are set, and not defaults. */
    explicit,
    /** The variables that set keys. */
    names,
    ofYaml,
    ofVariables,
    withSource: (problem: ConfigProblem) => withSource(problem, sources),
  };
}

/** The profiles of the example configuration, without models (ruling A12). */
const TUNED = {
  answer_detailed: { reasoning_effort: 'high', verbosity: 'high', search_context_size: 'high', max_tool_calls: 30 },
  answer_quick: { reasoning_effort: 'low', verbosity: 'low', search_context_size: 'low', max_tool_calls: 3 },
};

/** All keys, and the paths of those that are set, and not defaults. */
function merged(set: readonly (readonly [string, unknown])[]) {
  const isTuned = set.some(([path, value]) => path === 'model_profiles.preset' && value === 'tuned');
  const preset = Object.entries(isTuned ? TUNED : {}).flatMap(([tool, keys]) =>
    Object.entries(keys).map(([key, value]) => [`model_profiles.${tool}.${key}`, value] as const),
  );
  const values = new Map(DEFAULTS);
  // Who chooses the preset has configured what it contains.
  for (const [path, value] of [...preset, ...set]) {
    const below = values.get(path);
    values.set(path, isObject(value) && isObject(below) ? { ...below, ...value } : value);
  }
  return { values, explicit: new Set([...preset, ...set].map(([path]) => path)) };
}

/** Names the source of a key that has a problem: the option, else the variable, else the file (ruling 15). */
function withSource(problem: ConfigProblem, { options, variables, yaml, file = '' }: Sources): ConfigProblem {
  const { where } = problem;
  const { variable = where, option } = KEYS.find(({ path }) => path === where) ?? {};
  if (option !== undefined && options.has(where)) return { ...problem, where: `${option} (${where})` };
  if (variables.has(where)) return { ...problem, where: variable };
  return yaml.has(where) ? { ...problem, file } : problem;
}
