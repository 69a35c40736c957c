import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigProblem, ConfigSource, Validated } from '../../../application/ports/config.ts';
import { isObject, withoutUndefined } from '../../../domain/json.ts';
import { createRedactor, MASK, redactedJson } from '../../../domain/redaction.ts';
import { expandPath, homeFolder } from './files.ts';
import type { HttpLayer } from './http-config.ts';
import { DEFAULTS, KEYS } from './keys.ts';
import {
  type CommandLineOptions,
  type Environment,
  type Layer,
  readEnvironment,
  readOptions,
  shownName,
  variableText,
} from './layers.ts';
import { checkPaths, readApiKey, readPolicy } from './named-files.ts';
import { readProxy } from './proxies.ts';
import { type ServerConfig, toServerConfig } from './server-config.ts';
import { mergeTrees, type Tree, treeOf, valueAt } from './tree.ts';

export interface FileConfigSourceOptions {
  readonly environment: Environment;
  readonly commandLine: CommandLineOptions;
  readonly version: string;
}

/** Defaults, overridden by YAML, then by the environment, then by the command line (spec 5.1, 8.1). */
export class FileConfigSource implements ConfigSource<ServerConfig> {
  readonly #options: FileConfigSourceOptions;

  constructor(options: FileConfigSourceOptions) {
    this.#options = options;
  }

  async load(): Promise<Validated<ServerConfig>> {
    const { environment, commandLine, version } = this.#options;
    const yaml = await readYaml(commandLine['--config']);
    const variables = readEnvironment(environment);
    const options = readOptions(commandLine);
    const tree = [yaml.tree, variables.tree, options].reduce(mergeTrees, DEFAULTS);

    const key = readApiKey(environment, String(valueAt(tree, 'openai.api_key_env')));
    const proxy = readProxy(environment, String(valueAt(tree, 'openai.base_url')));
    const policy = readPolicy(tree);
    const endpoint = commandLine['--http'] === undefined ? { problems: [] } : await readEndpoint(tree, environment);
    const merged = [...policy.problems, ...checkPaths(tree), ...endpoint.problems];
    const problems = [
      ...[key, proxy, yaml, variables].flatMap((layer) => layer.problems),
      ...merged.map((problem) => withSource(problem, options, variables.tree, yaml)),
    ];
    if (problems.length > 0) return { problems: problems.map(withoutSecrets) };

    const keyNames = variableText(environment, key.variable) === '' ? [] : [key.variable];
    const env = [...variables.names, ...keyNames, ...proxy.names];
    const sources = { ts_defaults: true, yaml: yaml.file, env, cli: Object.keys(commandLine) } as const;
    return {
      value: toServerConfig(tree, {
        instructions: policy.instructions,
        apiKeyVariable: key.variable,
        apiKey: key.value,
        proxy: proxy.proxy,
        http: endpoint.http,
        shown: { version, sources: withoutUndefined(sources), effective: toShownTree(tree, key.value) },
      }),
    };
  }
}

/** The default file may be absent (ruling 15). The YAML parser is loaded only if there is a file to read. */
async function readYaml(configOption: string | undefined): Promise<Layer> {
  const file = configOption === undefined ? defaultFile() : expandPath(configOption);
  if (file === undefined) return { tree: {}, problems: [] };
  const { readYamlFile } = await import('./yaml-file.ts');
  return readYamlFile(file, configOption === undefined ? file : `--config ${file}`);
}

function defaultFile(): string | undefined {
  const home = homeFolder();
  const file = home === undefined ? undefined : join(home, '.config', 'openai-responses-mcp', 'config.yaml');
  return file !== undefined && existsSync(file) ? file : undefined;
}

/** Only the HTTP mode needs this section. */
async function readEndpoint(tree: Tree, environment: Environment): Promise<HttpLayer> {
  const { readHttpConfig } = await import('./http-config.ts');
  return readHttpConfig(tree, environment);
}

/** Names the source of a key that has a problem: the option, else the variable, else the file (ruling 15). */
function withSource(problem: ConfigProblem, options: Tree, variables: Tree, yaml: Layer): ConfigProblem {
  const { where } = problem;
  const isSetIn = (tree: Tree) => valueAt(tree, where) !== undefined;
  const { variable = where, option } = KEYS.find(({ path }) => path === where) ?? {};
  if (option !== undefined && isSetIn(options)) return { ...problem, where: `${option} (${where})` };
  if (isSetIn(variables)) return { ...problem, where: variable };
  return yaml.file !== undefined && isSetIn(yaml.tree) ? { ...problem, file: yaml.file } : problem;
}

function withoutSecrets({ where, value, message, file }: ConfigProblem): ConfigProblem {
  const { inLogs } = createRedactor([]);
  const shown = value === undefined ? undefined : inLogs(withoutCredentials(value));
  return withoutUndefined({ where: inLogs(where), value: shown, message: inLogs(message), file });
}

/** The URL of a proxy or of a server may contain a password, and may have no scheme. */
function withoutCredentials(text: string): string {
  return text.replace(/(^|\/\/)[^/\s]*@/g, `$1${MASK}@`);
}

/** The merged keys for display. No secret is shown, even if it was set in the wrong place. */
function toShownTree(tree: Tree, key: string | undefined): Tree {
  const { inLogs } = createRedactor(key === undefined ? [] : [key]);
  const names = KEYS.filter(({ kind, path }) => kind.namesSecret && valueAt(tree, path) !== undefined);
  const shown = names.reduce((tree, { path }) => mergeTrees(tree, treeOf(path, shownNames(valueAt(tree, path)))), tree);
  return JSON.parse(redactedJson(shown, inLogs)) as Tree;
}

function shownNames(value: unknown): unknown {
  if (!isObject(value)) return shownName(String(value));
  return Object.fromEntries(Object.entries(value).map(([caller, name]) => [caller, shownName(String(name))]));
}
