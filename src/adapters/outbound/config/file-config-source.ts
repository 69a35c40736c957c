import { accessSync, closeSync, constants, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type { ConfigProblem, ConfigSource } from '../../../application/ports/config.ts';
import { createRedactor, looksLikeKey } from '../../../domain/redaction.ts';
import { mergePolicy, type PolicyMerge, SYSTEM_POLICY } from '../../../domain/system-policy.ts';
import { openDebugFile } from '../logger/stderr-logger.ts';
import { DEFAULTS } from './defaults.ts';
import { type Environment, readDebug, readEnvironment } from './environment.ts';
import { readHttpConfig } from './http-config.ts';
import { readProxies } from './proxies.ts';
import { type ServerConfig, toServerConfig } from './server-config.ts';
import { mergeTrees, type Tree, valueAt } from './tree.ts';

/** What the command line says of the configuration. */
export interface CommandLineLayer {
  readonly configPath?: string;
  readonly debug?: string;
  readonly offline?: string;
  readonly record?: string;
  /** The HTTP endpoint is asked for: at this address, or where '' at the configured one. */
  readonly http?: string;
  readonly names: readonly string[];
}

export interface FileConfigSourceOptions {
  readonly environment: Environment;
  readonly commandLine: CommandLineLayer;
  readonly version: string;
}

/** Defaults, overridden by YAML, overridden by the environment, overridden by the command line (spec 5.1, 8.1). */
export class FileConfigSource implements ConfigSource<ServerConfig> {
  readonly #options: FileConfigSourceOptions;

  constructor(options: FileConfigSourceOptions) {
    this.#options = options;
  }

  async load(): Promise<Result<ServerConfig, readonly ConfigProblem[]>> {
    const { environment, commandLine, version } = this.#options;
    const yamlPath = expandPath(commandLine.configPath ?? '~/.config/openai-responses-mcp/config.yaml', process.cwd());
    const file = await readYamlLayer(yamlPath, commandLine.configPath !== undefined);
    const variables = readEnvironment(environment);
    const baseFolder = dirname(yamlPath);

    const layers = [resolvePaths(file.tree, baseFolder), variables.tree, toTree(commandLine)];
    const tree = resolvePaths(layers.reduce(mergeTrees, DEFAULTS as Tree), process.cwd());
    const policy = readPolicy(tree);
    const key = readApiKey(environment, String(valueAt(tree, 'openai.api_key_env')));
    const endpoint = commandLine.http === undefined ? { problems: [] } : readHttpConfig(tree, environment);
    const proxy = readProxies(environment);
    const problems = [
      ...key.problems,
      ...proxy.problems,
      ...file.problems,
      ...variables.problems,
      ...policy.problems,
      ...checkLineMode(environment),
      ...checkTogether(tree),
      ...endpoint.problems,
    ];
    if (problems.length > 0) return err(problems.map(maskKeys));

    const alsoRead = [`${key.variable}`, 'MCP_LINE_MODE'].filter((name) => (environment[name] ?? '').trim() !== '');
    return ok(
      toServerConfig(tree, {
        instructions: policy.instructions,
        apiKeyVariable: key.variable,
        ...(key.value === undefined ? {} : { apiKey: key.value }),
        ...(proxy.proxies === undefined ? {} : { proxies: proxy.proxies }),
        forceLines: isLineMode(environment.MCP_LINE_MODE),
        ...('http' in endpoint ? { http: endpoint.http } : {}),
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
    );
  }
}

/** The options as keys: a bare `--debug` or `--offline` switches on, a value behind them says where. */
function toTree({ debug, offline, record, http }: CommandLineLayer): Tree {
  return {
    ...(debug === undefined
      ? {}
      : { server: debug === '' ? { debug: true } : (readDebug(debug) ?? { debug: true, debug_file: debug }) }),
    llm: {
      ...(offline === undefined ? {} : { adapter: 'offline' }),
      ...(offline ? { recordings: offline } : {}),
      ...(record === undefined ? {} : { record }),
    },
    ...(http ? { http: { listen: http } } : {}),
  };
}

interface YamlLayer {
  readonly found: boolean;
  readonly tree: Tree;
  readonly problems: readonly ConfigProblem[];
}

/** The parser loads only if there is a file to read. */
async function readYamlLayer(path: string, isExplicit: boolean): Promise<YamlLayer> {
  if (!isExplicit && !existsSync(path)) return { found: false, tree: {}, problems: [] };
  const where = isExplicit ? `--config ${path}` : path;
  const content = readText(path);
  if (content.isErr()) {
    return {
      found: false,
      tree: {},
      problems: [{ where, accepted: `a YAML file that can be read (${content.error})` }],
    };
  }
  const [{ parseDocument }, { checkYaml }] = await Promise.all([import('yaml'), import('./yaml-check.ts')]);
  const document = parseDocument(content.value);
  const [syntax] = document.errors;
  if (syntax !== undefined) {
    const said = syntax.message.split('\n')[0]?.replace(/:$/, '') ?? '';
    return { found: true, tree: {}, problems: [{ where: path, accepted: `a file in YAML (${said})` }] };
  }
  return { found: true, ...checkYaml(toPlain(document)) };
}

/** Aliases that would grow without bound make the conversion throw; what is then checked is no section. */
function toPlain(document: { toJS(): unknown }): unknown {
  try {
    return document.toJS();
  } catch (error) {
    return String(error);
  }
}

function readText(path: string): Result<string, string> {
  try {
    return ok(readFileSync(path, 'utf8'));
  } catch (error) {
    return err((error as NodeJS.ErrnoException).code ?? String(error));
  }
}

const PATHS = ['policy.system.path', 'server.debug_file', 'llm.recordings', 'llm.record'];

/** `~` is the home folder; a relative path starts at `folder`: the configuration's for YAML, else where we were started. */
function resolvePaths(tree: Tree, folder: string): Tree {
  let resolved = tree;
  for (const path of PATHS) {
    const value = valueAt(tree, path);
    const [section = '', ...rest] = path.split('.');
    if (typeof value === 'string') {
      const inner = rest.reduceRight<unknown>((value, key) => ({ [key]: value }), expandPath(value, folder));
      resolved = mergeTrees(resolved, { [section]: inner });
    }
  }
  return resolved;
}

function expandPath(path: string, folder: string): string {
  return /^~(?:[/\\]|$)/.test(path) ? join(homedir(), path.slice(1)) : resolve(folder, path);
}

interface ApiKey {
  /** The variable to look at when the key is wrong. */
  readonly variable: string;
  readonly value?: string;
  readonly problems: readonly ConfigProblem[];
}

/** The key stands in a variable, or in the file that a second variable, ending in `_FILE`, names. */
function readApiKey(environment: Environment, variable: string): ApiKey {
  const value = environment[variable]?.trim() ?? '';
  const fileVariable = `${variable}_FILE`;
  const path = environment[fileVariable]?.trim() ?? '';
  if (path === '') return value === '' ? { variable, problems: [] } : { variable, value, problems: [] };
  const problem = (accepted: string): ApiKey => ({
    variable: fileVariable,
    problems: [{ where: fileVariable, value: path, accepted }],
  });
  if (value !== '') return problem(`nothing, since ${variable} holds a key: set one of the two`);
  const content = readText(expandPath(path, process.cwd()));
  if (content.isErr()) return problem(`the path of a file that can be read (${content.error})`);
  const key = content.value.replace(/^\uFEFF/, '').trim();
  return key === ''
    ? problem('the path of a file that holds a key (it is empty)')
    : { variable: fileVariable, value: key, problems: [] };
}

function readPolicy(tree: Tree): { readonly instructions: string; readonly problems: readonly ConfigProblem[] } {
  const path = valueAt(tree, 'policy.system.path');
  const isFile = valueAt(tree, 'policy.system.source') === 'file';
  if (!isFile) {
    const problem = {
      where: 'policy.system.path',
      value: String(path),
      accepted: 'nothing, unless policy.system.source is file',
    };
    return { instructions: SYSTEM_POLICY, problems: path === undefined ? [] : [problem] };
  }
  if (typeof path !== 'string') {
    return {
      instructions: '',
      problems: [
        { where: 'policy.system.path', accepted: 'the path of a policy file, since policy.system.source is file' },
      ],
    };
  }
  const content = readText(path);
  const fault = content.isErr() ? content.error : content.value.trim() === '' ? 'it is empty' : undefined;
  if (content.isErr() || fault !== undefined) {
    return {
      instructions: '',
      problems: [{ where: 'policy.system.path', value: path, accepted: `a policy file that can be read (${fault})` }],
    };
  }
  return {
    instructions: mergePolicy(
      content.value.replace(/^\uFEFF/, ''),
      valueAt(tree, 'policy.system.merge') as PolicyMerge,
    ),
    problems: [],
  };
}

function isLineMode(value: string | undefined): boolean {
  return /^\s*(?:1|true)\s*$/i.test(value ?? '');
}

function checkLineMode({ MCP_LINE_MODE }: Environment): readonly ConfigProblem[] {
  const value = MCP_LINE_MODE?.trim() ?? '';
  const isKnown = /^(?:|0|1|true|false)$/i.test(value);
  return isKnown ? [] : [{ where: 'MCP_LINE_MODE', value, accepted: '1 or 0' }];
}

/** What only shows once the layers are merged: keys that need each other, files that must be there. */
function checkTogether(tree: Tree): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const [adapter, recordings, record] = ['llm.adapter', 'llm.recordings', 'llm.record'].map((path) =>
    valueAt(tree, path),
  );
  if (typeof recordings === 'string' && adapter === 'offline') {
    const fault = faultOf(() => accessSync(recordings, constants.R_OK));
    if (fault !== undefined) {
      problems.push({
        where: 'llm.recordings',
        value: recordings,
        accepted: `a folder of recordings, or one .json or .sse file, that can be read (${fault})`,
      });
    } else if (!statSync(recordings).isDirectory() && !/\.(?:json|sse)$/.test(recordings)) {
      problems.push({
        where: 'llm.recordings',
        value: recordings,
        accepted: 'a folder of recordings, or one .json or .sse file',
      });
    }
  }
  if (typeof record === 'string') {
    const fault = faultOf(() => {
      mkdirSync(record, { recursive: true, mode: 0o700 });
      accessSync(record, constants.W_OK);
    });
    if (adapter === 'offline')
      problems.push({
        where: 'llm.record',
        value: record,
        accepted: 'nothing while offline: only replies of the API are recorded',
      });
    else if (fault !== undefined)
      problems.push({ where: 'llm.record', value: record, accepted: `a folder that can be written to (${fault})` });
  }
  const debugFile = valueAt(tree, 'server.debug_file');
  if (valueAt(tree, 'server.debug') === true && typeof debugFile === 'string') {
    const fault = faultOf(() => closeSync(openDebugFile(debugFile)));
    if (fault !== undefined)
      problems.push({
        where: 'server.debug_file',
        value: debugFile,
        accepted: `a file that can be written to (${fault})`,
      });
  }
  return problems;
}

function faultOf(attempt: () => void): string | undefined {
  try {
    attempt();
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
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
  const { anywhere } = createRedactor(key === undefined ? [] : [key]);
  return JSON.parse(anywhere(JSON.stringify(tree))) as Tree;
}

/** A proxy's or server's URL may hold a password. */
function withoutCredentials(text: string): string {
  return text.replace(/\/\/[^/\s]*@/g, '//[redacted]@');
}
