import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigProblem, ConfigSource, Validated } from '../../../application/ports/config.ts';
import { withoutUndefined } from '../../../domain/json.ts';
import { readApiKey } from './api-key.ts';
import { type Environment, PROXY_VARIABLES, variableText } from './environment.ts';
import { expandPath, homeFolder } from './files.ts';
import { DEFAULTS, KEYS } from './keys.ts';
import type { CommandLineOptions } from './layers.ts';
import { mistypedVariables } from './mistyped-variables.ts';
import type { ProxyLayer } from './proxies.ts';
import { formsOf } from './secret-forms.ts';
import { secretVariables } from './secret-variables.ts';
import { type ServerConfig, toServerConfig } from './server-config.ts';
import type { SetKeys } from './set-keys.ts';

export interface FileConfigSourceOptions {
  readonly environment: Environment;
  readonly commandLine: CommandLineOptions;
  readonly version: string;
  /** The configuration is read again while the program runs: an empty file is then a problem. */
  readonly isReload?: boolean;
}

/** Defaults, overridden by YAML, then by the environment, then by the command line; maps are merged (spec 5.1, 8.1). */
export class FileConfigSource implements ConfigSource<ServerConfig> {
  readonly #options: FileConfigSourceOptions;

  constructor(options: FileConfigSourceOptions) {
    this.#options = options;
  }

  async load(): Promise<Validated<ServerConfig>> {
    const { environment, commandLine, version } = this.#options;
    const option = commandLine['--config'];
    const file = option === undefined ? defaultFile() : expandPath(option);
    const {
      values,
      explicit,
      names,
      instructions,
      http,
      quota,
      servers,
      secrets,
      notices = [],
      ...set
    } = await readKeys(file, this.#options);
    const key = readApiKey(environment, String(values.get('openai.api_key_env')));
    const proxy = await readProxy(environment, String(values.get('openai.base_url')));
    const problems = [key, proxy, set].flatMap((layer) => layer.problems);
    const redacted = async (problems: readonly ConfigProblem[]) =>
      problems.length === 0 ? [] : problems.map((await import('./redacted-problem.ts')).withoutSecrets);
    const secretNames = secretVariables(values);
    const mistyped = await mistypedVariables(environment, secretNames);
    // A name that is mistyped is often the reason for the others.
    if (problems.length > 0) return { problems: [...(await redacted(problems)), ...mistyped] };

    const keyNames = variableText(environment, key.variable) === '' ? [] : [key.variable];
    const env = [...names, ...keyNames, ...proxy.names];
    const sources = withoutUndefined({ ts_defaults: true as const, yaml: file, env, cli: Object.keys(commandLine) });
    return {
      value: toServerConfig(values, {
        instructions,
        apiKeyVariable: key.variable,
        apiKey: key.value,
        isKeyFileShared: key.isShared === true,
        proxy: proxy.proxy,
        pageProxy: values.get('citations.resolve_dates') ? (await readProxy(environment, ANY_PAGE)).proxy : undefined,
        http,
        quota,
        servers,
        notices: [...mistyped, ...(await redacted(notices))],
        explicit,
        secretVariables: secretNames,
        secrets: {
          ...secrets,
          own: [...(key.value === undefined ? [] : [key.value]), ...secrets.own, ...proxy.secrets].flatMap(formsOf),
        },
        sources,
        readOAuth: async () => (await import('./oauth-config.ts')).readOAuth(values),
        shown: async () => {
          const { toShownTree } = await import('./shown-tree.ts');
          return { version, sources, effective: toShownTree(values) };
        },
      }),
    };
  }
}

/** Of the hosts in `NO_PROXY`, only `*` contains all cited pages. */
const ANY_PAGE = 'https://page.invalid/';

/** The default file may be absent (ruling 15). */
function defaultFile(): string | undefined {
  const home = homeFolder();
  const file = home === undefined ? undefined : join(home, '.config', 'openai-responses-mcp', 'config.yaml');
  return file !== undefined && existsSync(file) ? file : undefined;
}

const NO_SECRETS = { own: [], ofServers: [] };

/** Usually no key is set. What reads and checks values is then not loaded. */
async function readKeys(
  file: string | undefined,
  { environment, commandLine, isReload = false }: FileConfigSourceOptions,
) {
  const isVariableSet = KEYS.some(({ variable = '' }) => variableText(environment, variable) !== '');
  const isDefault = file === undefined && !isVariableSet && Object.keys(commandLine).length === 0;
  if (isDefault)
    return { values: DEFAULTS, explicit: new Set(), names: [], secrets: NO_SECRETS, problems: [] } as SetKeys;
  return (await import('./set-keys.ts')).readSetKeys(file, environment, commandLine, isReload);
}

async function readProxy(environment: Environment, baseUrl: string): Promise<ProxyLayer> {
  if (PROXY_VARIABLES.every((name) => variableText(environment, name) === ''))
    return { names: [], secrets: [], problems: [] };
  return (await import('./proxies.ts')).readProxy(environment, baseUrl);
}
