import type { Config } from '../../../application/ports/config.ts';
import type { ModelProfile, ModelProfiles } from '../../../domain/model-profile.ts';
import { isToolName } from '../../../domain/tool-name.ts';
import type { HttpConfig } from './http-config.ts';
import type { Proxies } from './proxies.ts';
import { isTree, type Tree, valueAt } from './tree.ts';

/** The whole configuration: the core's part, and what the adapters and drivers are told. */
export interface ServerConfig extends Config {
  readonly openai: {
    /** The variable that holds the key, or names the file that holds it. */
    readonly apiKeyVariable: string;
    readonly apiKey?: string;
    readonly baseUrl: string;
    readonly organization?: string;
    readonly project?: string;
    readonly store: boolean;
    /** Where the environment names a proxy. */
    readonly proxies?: Proxies;
  };
  readonly maxRetries: number;
  /** Most calls that run upstream at a time. */
  readonly maxConcurrency: number;
  readonly search: {
    readonly userLocation?: UserLocation;
    readonly domainFilter: 'hint' | 'strict';
  };
  readonly llm: {
    readonly adapter: 'openai' | 'offline';
    /** A folder of recordings, or one recorded reply; the shipped ones where none is named. */
    readonly recordings?: string;
    /** Where replies of the real API are recorded. */
    readonly record?: string;
  };
  readonly server: {
    readonly debug: boolean;
    readonly debugFile?: string;
    readonly showConfigOnStart: boolean;
    readonly toolErrors: 'protocol' | 'result';
    /** `MCP_LINE_MODE=1`: answer in lines, whatever the client's framing. */
    readonly forceLines: boolean;
  };
  /** Only where the command line asks for the HTTP endpoint. */
  readonly http?: HttpConfig;
  /** What `--show-config` prints. Holds no key. */
  readonly shown: ShownConfig;
}

export interface UserLocation {
  readonly country?: string;
  readonly region?: string;
  readonly city?: string;
  readonly timezone?: string;
}

export interface ShownConfig {
  readonly version: string;
  readonly sources: {
    readonly ts_defaults: true;
    readonly yaml?: string;
    readonly env: readonly string[];
    readonly cli: readonly string[];
  };
  readonly effective: Tree;
}

/** What stands beside the merged keys: read from files and the environment, or told by main. */
export interface Extras {
  readonly instructions: string;
  readonly apiKeyVariable: string;
  readonly apiKey?: string;
  readonly proxies?: Proxies;
  readonly forceLines: boolean;
  readonly http?: HttpConfig;
  readonly shown: ShownConfig;
}

/** The checked and merged keys, as the program uses them. */
export function toServerConfig(
  tree: Tree,
  { instructions, apiKeyVariable, apiKey, proxies, forceLines, http, shown }: Extras,
): ServerConfig {
  // Every key was checked against its kind before, and those without a default are optional.
  const at = <T>(path: string) => valueAt(tree, path) as T;
  return {
    profiles: toProfiles(at<Tree>('model_profiles')),
    searchDefaults: {
      recencyDays: at('search.defaults.recency_days'),
      maxResults: at('search.defaults.max_results'),
      domains: at('search.defaults.domains'),
    },
    maxCitations: at('policy.max_citations'),
    maxAnswerChars: at('server.max_answer_chars'),
    timeoutMs: at('request.timeout_ms'),
    maxRetries: at('request.max_retries'),
    maxConcurrency: at('request.max_concurrency'),
    instructions,
    openai: withoutUndefined({
      apiKeyVariable,
      apiKey,
      baseUrl: at<string>('openai.base_url'),
      organization: at<string | undefined>('openai.organization'),
      project: at<string | undefined>('openai.project'),
      store: at<boolean>('openai.store'),
      proxies,
    }),
    search: withoutUndefined({
      userLocation: at<UserLocation | undefined>('search.user_location'),
      domainFilter: at<'hint' | 'strict'>('search.domain_filter'),
    }),
    llm: withoutUndefined({
      adapter: at<'openai' | 'offline'>('llm.adapter'),
      recordings: at<string | undefined>('llm.recordings'),
      record: at<string | undefined>('llm.record'),
    }),
    server: withoutUndefined({
      debug: at<boolean>('server.debug'),
      debugFile: at<string | undefined>('server.debug_file'),
      showConfigOnStart: at<boolean>('server.show_config_on_start'),
      toolErrors: at<'protocol' | 'result'>('server.tool_errors'),
      forceLines,
    }),
    ...(http === undefined ? {} : { http }),
    shown,
  };
}

function toProfiles(profiles: Tree): ModelProfiles {
  const entries = Object.entries(profiles).filter(([tool, profile]) => isToolName(tool) && isTree(profile));
  return Object.fromEntries(entries.map(([tool, profile]) => [tool, toProfile(profile as Tree)]));
}

function toProfile(profile: Tree): Partial<ModelProfile> {
  return withoutUndefined({
    model: profile.model,
    reasoningEffort: profile.reasoning_effort,
    verbosity: profile.verbosity,
    maxOutputTokens: profile.max_output_tokens,
    maxToolCalls: profile.max_tool_calls,
    searchContextSize: profile.search_context_size,
  }) as Partial<ModelProfile>;
}

type WithoutUndefined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** An absent key is absent, not there with the value undefined. */
function withoutUndefined<T extends object>(object: T): WithoutUndefined<T> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as WithoutUndefined<T>;
}
