import { domainToASCII, domainToUnicode } from 'node:url';
import type { Config, ConfigProblem } from '../../../application/ports/config.ts';
import type { GroundingPolicy } from '../../../domain/grounding.ts';
import { type JsonObject, withoutUndefined } from '../../../domain/json.ts';
import type { ModelProfile, UserLocation } from '../../../domain/model-profile.ts';
import type { SearchDefaults } from '../../../domain/question.ts';
import type { Secrets } from '../../../domain/redaction.ts';
import type { HttpConfig } from './http-config.ts';
import { KEYS, type Values } from './keys.ts';
import type { readOAuth } from './oauth-config.ts';
import type { QuotaConfig } from './quota-config.ts';
import type { ServerEntry } from './server-entry.ts';
import { toZone } from './time-zone.ts';

/** The complete configuration: the core's part, and what the adapters use. */
export type ServerConfig = Config & Readonly<ReturnType<typeof toServerConfig>>;

/** What does not come from the merged keys. */
interface Extras {
  readonly instructions: string | undefined;
  /** The name of the variable that contains the key, or that names a file with the key. */
  readonly apiKeyVariable: string;
  readonly apiKey: string | undefined;
  readonly isKeyFileShared: boolean;
  /** The URL of the proxy for requests to `baseUrl`. */
  readonly proxy: string | undefined;
  /** The URL of the proxy for cited pages, if they are read. */
  readonly pageProxy: string | undefined;
  /** Present only if the command line requests the HTTP endpoint. */
  readonly http: HttpConfig | undefined;
  /** The limits of callers per day, if there are any. */
  readonly quota: QuotaConfig | undefined;
  /** The servers of the gateway, if any are configured. */
  readonly servers: readonly ServerEntry[] | undefined;
  /** What was left out of the servers, or changed, and variables that are probably mistyped: reported, but not a reason to stop. */
  readonly notices: readonly ConfigProblem[];
  /** The names of the variables that contain keys and tokens of this program. */
  readonly secretVariables: readonly string[];
  readonly secrets: Secrets;
  /** The paths of the keys that are set, and not defaults. */
  readonly explicit: ReadonlySet<string>;
  readonly sources: ConfigSources;
  /** The section `http.oauth`, which is checked only if HTTP is served. */
  readonly readOAuth: () => Promise<ReturnType<typeof readOAuth>>;
  /** What `--show-config` prints. Contains no key. */
  readonly shown: () => Promise<{ version: string; sources: ConfigSources; effective: JsonObject }>;
}

/** Where the configuration comes from: the YAML file, the variables and the options that were used. */
interface ConfigSources {
  readonly ts_defaults: true;
  readonly yaml?: string;
  readonly env: readonly string[];
  readonly cli: readonly string[];
}

/** The validated and merged keys, in the form that the program uses. The types are those of the keys. */
export function toServerConfig(
  values: Values,
  { apiKeyVariable, apiKey, isKeyFileShared, proxy, explicit, ...rest }: Extras,
) {
  const get = <T = string | undefined>(path: string) => (values.get(path) ?? undefined) as T;
  const profile = (tool: string) => {
    const prefix = `model_profiles.${tool}.`;
    const read = section<Partial<ModelProfile>>(values, prefix);
    const configured = CONFIGURABLE.filter(
      (key) => explicit.has(`${prefix}${KEY_OF[key]}`) && read?.[key] !== undefined,
    );
    return read && configured.length > 0 ? { ...read, configured } : read;
  };
  return withoutUndefined({
    ...rest,
    timeoutMs: get<number>('request.timeout_ms'),
    maxRetries: get<number>('request.max_retries'),
    /** Maximum number of calls that run upstream at the same time. */
    maxConcurrency: get<number>('request.max_concurrency'),
    maxCitations: get<number>('policy.max_citations'),
    maxAnswerChars: get<number>('server.max_answer_chars'),
    timeZone: toZone(get<string>('clock.time_zone')),
    blockedDomains: inBothForms(get<readonly string[]>('search.blocked_domains')),
    resolveDates: get<boolean>('citations.resolve_dates'),
    background: get<boolean>('request.background'),
    profiles: withoutUndefined({
      answer: profile('answer'),
      answer_detailed: profile('answer_detailed'),
      answer_quick: profile('answer_quick'),
    }),
    searchDefaults: section<SearchDefaults>(values, 'search.defaults.') as SearchDefaults,
    search: withoutUndefined({
      domainFilter: get<'hint' | 'strict'>('search.domain_filter'),
      userLocation: section<UserLocation>(values, 'search.user_location.'),
      blockedDomains: get<readonly string[]>('search.blocked_domains'),
      live: get<boolean>('search.live'),
      tool: get<string>('search.tool'),
    }),
    openai: withoutUndefined({
      apiKeyVariable,
      apiKey,
      baseUrl: get<string>('openai.base_url'),
      /** Other users of this machine can read the file that contains the key. */
      isKeyFileShared: isKeyFileShared || undefined,
      organization: get('openai.organization'),
      project: get('openai.project'),
      store: get<boolean>('openai.store'),
      proxy,
    }),
    llm: withoutUndefined({
      adapter: get<'openai' | 'offline'>('llm.adapter'),
      /** A folder of recordings, or one recorded reply; without it, those of the package. */
      recordings: get('llm.recordings'),
      /** The folder in which replies of the API are recorded. */
      record: get('llm.record'),
      /** Whether grounded answers are recorded too (ruling L22). */
      recordPrivate: get<boolean>('llm.record_private'),
    }),
    gateway: {
      /** Whether the servers' tools are also available over MCP. */
      expose: get<boolean>('gateway.expose'),
      checkOutput: get<'warn' | 'strict'>('gateway.check_output'),
    },
    grounding: toGroundingPolicy(values),
    server: withoutUndefined({
      debug: get<boolean>('server.debug'),
      debugFile: get('server.debug_file'),
      showConfigOnStart: get<boolean>('server.show_config_on_start'),
      toolErrors: get<'protocol' | 'result'>('server.tool_errors'),
      /** Respond in lines, whatever framing the client uses. */
      lineMode: get<boolean>('server.line_mode'),
    }),
  });
}

/** Parameters that a model with an unknown name gets only if they are configured (ruling A8). */
const CONFIGURABLE = ['reasoningEffort', 'verbosity'] as const;
const KEY_OF = { reasoningEffort: 'reasoning_effort', verbosity: 'verbosity' } as const;

/** Pages may be cited in either form: `例え.jp` and `xn--r8jz45g.jp`. */
function inBothForms(hosts: readonly string[]): readonly string[] {
  return [...new Set(hosts.flatMap((host) => [host, domainToASCII(host) || host, domainToUnicode(host) || host]))];
}

/** Undefined if no tools are to be offered: then nothing of it is loaded (ruling L1). */
function toGroundingPolicy(values: Values): GroundingPolicy | undefined {
  const tools = values.get('grounding.tools') as GroundingPolicy['tools'] | undefined;
  if (tools === undefined || Object.keys(tools).length === 0) return undefined;
  return section<GroundingPolicy>(values, 'grounding.') as GroundingPolicy;
}

/** The keys of a section that are set, by names like `maxResults` for `max_results`, in the order of the table; undefined if none is. */
function section<T extends object>(values: Values, prefix: string): T | undefined {
  const paths = KEYS.map(({ path }) => path).filter((path) => path.startsWith(prefix) && values.get(path) != null);
  const toName = (path: string) =>
    path.slice(prefix.length).replace(/_[a-z]/g, ([, letter = '']) => letter.toUpperCase());
  return paths.length === 0
    ? undefined
    : (Object.fromEntries(paths.map((path) => [toName(path), values.get(path)])) as T);
}
