import type { Config } from '../../../application/ports/config.ts';
import { isObject, withoutUndefined } from '../../../domain/json.ts';
import type { ModelProfile, UserLocation } from '../../../domain/model-profile.ts';
import type { HttpConfig } from './http-config.ts';
import { type Tree, toCamelCase, valueAt } from './tree.ts';

/** The complete configuration: the core's part, and what the adapters use. Keys have their names of YAML, in camel case. */
export interface ServerConfig extends Config {
  readonly openai: {
    /** The variable that contains the key, or the path of the file with the key. */
    readonly apiKeyVariable: string;
    readonly apiKey?: string;
    readonly baseUrl: string;
    readonly organization?: string;
    readonly project?: string;
    readonly store: boolean;
    /** The URL of the proxy for requests to `baseUrl`. */
    readonly proxy?: string;
  };
  readonly maxRetries: number;
  /** Maximum number of calls that run upstream at the same time. */
  readonly maxConcurrency: number;
  readonly search: {
    readonly userLocation?: UserLocation;
    readonly domainFilter: 'hint' | 'strict';
  };
  readonly llm: {
    readonly adapter: 'openai' | 'offline';
    /** A folder of recordings, or one recorded reply; without it, those of the package. */
    readonly recordings?: string;
    /** The folder in which replies of the API are recorded. */
    readonly record?: string;
  };
  readonly server: {
    readonly debug: boolean;
    readonly debugFile?: string;
    readonly showConfigOnStart: boolean;
    readonly toolErrors: 'protocol' | 'result';
    /** Respond in lines, whatever framing the client uses. */
    readonly lineMode: boolean;
  };
  /** Present only if the command line requests the HTTP endpoint. */
  readonly http?: HttpConfig;
  /** What `--show-config` prints. Contains no key. */
  readonly shown: {
    readonly version: string;
    readonly sources: {
      readonly ts_defaults: true;
      readonly yaml?: string;
      readonly env: readonly string[];
      readonly cli: readonly string[];
    };
    readonly effective: Tree;
  };
}

/** What does not come from the merged keys. */
interface Extras extends Pick<ServerConfig, 'instructions' | 'shown'> {
  readonly apiKeyVariable: string;
  readonly apiKey: string | undefined;
  readonly proxy: string | undefined;
  readonly http: HttpConfig | undefined;
}

/** The validated and merged keys, in the form that the program uses. */
export function toServerConfig(tree: Tree, extras: Extras): ServerConfig {
  const section = <T>(path: string) => toCamelCase<T>(valueAt(tree, path));
  const { apiKeyVariable, apiKey, proxy, ...rest } = extras;
  const { defaults, ...search } = section<ServerConfig['search'] & { readonly defaults: Tree }>('search');
  const { maxAnswerChars, ...server } = section<ServerConfig['server'] & Pick<Config, 'maxAnswerChars'>>('server');
  return withoutUndefined({
    ...rest,
    ...section<Pick<ServerConfig, 'timeoutMs' | 'maxRetries' | 'maxConcurrency'>>('request'),
    maxCitations: section<Pick<Config, 'maxCitations'>>('policy').maxCitations,
    maxAnswerChars,
    profiles: toProfiles(valueAt(tree, 'model_profiles') as Tree),
    searchDefaults: toCamelCase<Config['searchDefaults']>(defaults),
    openai: withoutUndefined({ ...section<ServerConfig['openai']>('openai'), apiKeyVariable, apiKey, proxy }),
    search,
    llm: section<ServerConfig['llm']>('llm'),
    server,
  });
}

/** `answer: null` is no profile (ruling 11). */
function toProfiles(profiles: Tree): Config['profiles'] {
  const entries = Object.entries(profiles).filter(([, profile]) => isObject(profile));
  return Object.fromEntries(entries.map(([tool, profile]) => [tool, toCamelCase<Partial<ModelProfile>>(profile)]));
}
