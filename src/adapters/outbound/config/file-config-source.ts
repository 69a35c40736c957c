import { existsSync } from 'node:fs';
import type { ConfigProblem, ConfigSource, Validated } from '../../../application/ports/config.ts';
import { isObject, withoutUndefined } from '../../../domain/json.ts';
import { createRedactor, MASK } from '../../../domain/redaction.ts';
import { SYSTEM_POLICY } from '../../../domain/system-policy.ts';
import { readApiKey } from './api-key.ts';
import { expandPath, homeFolder } from './files.ts';
import type { HttpLayer } from './http-config.ts';
import { DEFAULTS, KEYS, type Values } from './keys.ts';
import {
  type CommandLineOptions,
  type Environment,
  type Layer,
  readEnvironment,
  readOptions,
  variableText,
} from './layers.ts';
import type { NamedFiles } from './named-files.ts';
import type { ProxyLayer } from './proxies.ts';
import { type ServerConfig, toServerConfig } from './server-config.ts';

export interface FileConfigSourceOptions {
  readonly environment: Environment;
  readonly commandLine: CommandLineOptions;
  readonly version: string;
}

/** Defaults, overridden by YAML, then by the environment, then by the command line; maps are merged (spec 5.1, 8.1). */
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
    const values = new Map(DEFAULTS);
    for (const [path, value] of [...yaml.values, ...variables.values, ...options]) {
      const below = values.get(path);
      values.set(path, isObject(value) && isObject(below) ? { ...below, ...value } : value);
    }

    const key = readApiKey(environment, String(values.get('openai.api_key_env')));
    const proxy = await readProxy(environment, String(values.get('openai.base_url')));
    const files = await readFiles(values);
    const isHttp = commandLine['--http'] !== undefined;
    const http: HttpLayer = isHttp
      ? (await import('./http-config.ts')).readHttpConfig(values, environment)
      : { problems: [] };
    const read = [key, proxy, yaml, variables].flatMap((layer) => layer.problems);
    const merged = [...files.problems, ...http.problems];
    if (read.length + merged.length > 0) {
      const located = merged.map((problem) => withSource(problem, options, variables.values, yaml));
      return { problems: [...read, ...located].map(withoutSecrets) };
    }

    const keyNames = variableText(environment, key.variable) === '' ? [] : [key.variable];
    const env = [...variables.names, ...keyNames, ...proxy.names];
    const cli = Object.keys(commandLine);
    const sources = withoutUndefined({ ts_defaults: true as const, yaml: yaml.file, env, cli });
    return {
      value: toServerConfig(values, {
        instructions: files.instructions,
        apiKeyVariable: key.variable,
        apiKey: key.value,
        proxy: proxy.proxy,
        http: http.http,
        sources,
        shown: async () => {
          const { toShownTree } = await import('./shown-tree.ts');
          return { version, sources, effective: toShownTree(values, key.value) };
        },
      }),
    };
  }
}

/** The default file may be absent (ruling 15). The YAML parser is loaded only if there is a file to read. */
async function readYaml(configOption: string | undefined): Promise<Layer> {
  const file = configOption === undefined ? defaultFile() : expandPath(configOption);
  if (file === undefined) return { values: new Map(), problems: [] };
  const { readYamlFile } = await import('./yaml-file.ts');
  return readYamlFile(file, configOption === undefined ? file : `--config ${file}`);
}

function defaultFile(): string | undefined {
  const home = homeFolder();
  const file = home === undefined ? undefined : `${home}/.config/openai-responses-mcp/config.yaml`;
  return file !== undefined && existsSync(file) ? file : undefined;
}

async function readProxy(environment: Environment, baseUrl: string): Promise<ProxyLayer> {
  const names = ['HTTPS_PROXY', 'HTTP_PROXY', 'https_proxy', 'http_proxy'];
  if (names.every((name) => variableText(environment, name) === '')) return { names: [], problems: [] };
  return (await import('./proxies.ts')).readProxy(environment, baseUrl);
}

/** The files and folders that the configuration names, if it names any. */
async function readFiles(values: Values): Promise<NamedFiles> {
  const namesFile = KEYS.some(
    ({ path, kind }) => (kind.isPath || path.startsWith('policy.system.')) && values.get(path) !== DEFAULTS.get(path),
  );
  if (!namesFile) return { instructions: SYSTEM_POLICY, problems: [] };
  return (await import('./named-files.ts')).readFiles(values);
}

/** Names the source of a key that has a problem: the option, else the variable, else the file (ruling 15). */
function withSource(problem: ConfigProblem, options: Values, variables: Values, yaml: Layer): ConfigProblem {
  const { where } = problem;
  const { variable = where, option } = KEYS.find(({ path }) => path === where) ?? {};
  if (option !== undefined && options.has(where)) return { ...problem, where: `${option} (${where})` };
  if (variables.has(where)) return { ...problem, where: variable };
  return yaml.file !== undefined && yaml.values.has(where) ? { ...problem, file: yaml.file } : problem;
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
