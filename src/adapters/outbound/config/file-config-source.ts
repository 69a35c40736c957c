import { dirname } from 'node:path';
import type { Checked, ConfigOptions, ConfigProblem, ConfigSource } from '../../../application/ports/config.ts';
import { createRedactor, looksLikeKey } from '../../../domain/redaction.ts';
import { readApiKey } from './api-key.ts';
import { checkTogether } from './consistency.ts';
import { DEFAULTS } from './defaults.ts';
import { type Environment, readEnvironment } from './environment.ts';
import type { HttpLayer } from './http-config.ts';
import { checkLineMode, isLineMode } from './line-mode.ts';
import { readOptions } from './options.ts';
import { originOf } from './origin.ts';
import { expandPath, resolvePaths } from './paths.ts';
import { readPolicy } from './policy-file.ts';
import { readProxies } from './proxies.ts';
import { type ServerConfig, toServerConfig } from './server-config.ts';
import { mergeTrees, type Tree, valueAt } from './tree.ts';
import { readYamlLayer } from './yaml-file.ts';

export interface FileConfigSourceOptions {
  readonly environment: Environment;
  readonly commandLine: ConfigOptions;
  readonly version: string;
}

/** Defaults, overridden by YAML, overridden by the environment, overridden by the command line (spec 5.1, 8.1). */
export class FileConfigSource implements ConfigSource<ServerConfig> {
  readonly #options: FileConfigSourceOptions;

  constructor(options: FileConfigSourceOptions) {
    this.#options = options;
  }

  async load(): Promise<Checked<ServerConfig>> {
    const { environment, commandLine, version } = this.#options;
    const yamlPath = expandPath(commandLine.configPath ?? '~/.config/openai-responses-mcp/config.yaml', process.cwd());
    const file = await readYamlLayer(yamlPath, commandLine.configPath !== undefined);
    const variables = readEnvironment(environment);
    const baseFolder = dirname(yamlPath);

    const options = readOptions(commandLine);
    const layers = [resolvePaths(file.tree, baseFolder), variables.tree, options];
    const tree = resolvePaths(layers.reduce(mergeTrees, DEFAULTS as Tree), process.cwd());
    const policy = readPolicy(tree);
    const key = readApiKey(environment, String(valueAt(tree, 'openai.api_key_env')));
    const endpoint = commandLine.http === undefined ? { problems: [] } : await readEndpoint(tree, environment);
    const proxy = readProxies(environment);
    // Found in the merged keys, and so named by path.
    const merged = [...policy.problems, ...checkTogether(tree), ...endpoint.problems];
    const problems = [
      ...key.problems,
      ...proxy.problems,
      ...file.problems,
      ...variables.problems,
      ...checkLineMode(environment),
      ...merged.map((problem) => ({ ...problem, where: originOf(problem.where, options, variables.tree) })),
    ];
    if (problems.length > 0) return { problems: problems.map(maskKeys) };

    const alsoRead = [`${key.variable}`, 'MCP_LINE_MODE'].filter((name) => (environment[name] ?? '').trim() !== '');
    return {
      value: toServerConfig(tree, {
        instructions: policy.instructions,
        apiKeyVariable: key.variable,
        ...(key.value === undefined ? {} : { apiKey: key.value }),
        ...(proxy.proxies === undefined ? {} : { proxies: proxy.proxies }),
        forceLines: isLineMode(environment.MCP_LINE_MODE),
        ...('http' in endpoint && endpoint.http !== undefined ? { http: endpoint.http } : {}),
        shown: {
          version,
          sources: {
            ts_defaults: true,
            ...(file.found ? { yaml: yamlPath } : {}),
            env: [...variables.names, ...alsoRead, ...proxy.names],
            cli: commandLine.names,
          },
          effective: withoutKey(tree, key.value),
        },
      }),
    };
  }
}

function maskKeys(problem: ConfigProblem): ConfigProblem {
  const { inLogs } = createRedactor([]);
  const value =
    problem.value === undefined
      ? undefined
      : looksLikeKey(problem.value)
        ? '[redacted]'
        : inLogs(withoutCredentials(problem.value));
  return {
    where: inLogs(problem.where),
    accepted: inLogs(problem.accepted),
    ...(value === undefined ? {} : { value }),
  };
}

/** Whatever else holds the key by mistake, it is not shown. */
function withoutKey(tree: Tree, key: string | undefined): Tree {
  const { inLogs } = createRedactor(key === undefined ? [] : [key]);
  return JSON.parse(inLogs(JSON.stringify(tree))) as Tree;
}

/** Only the mode that serves HTTP needs to know how. */
async function readEndpoint(tree: Tree, environment: Environment): Promise<HttpLayer> {
  const { readHttpConfig } = await import('./http-config.ts');
  return readHttpConfig(tree, environment);
}

/** A proxy's or server's URL may hold a password. */
function withoutCredentials(text: string): string {
  return text.replace(/\/\/[^/\s]*@/g, '//[redacted]@');
}
