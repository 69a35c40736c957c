import { REASONING_EFFORTS, SEARCH_CONTEXT_SIZES, VERBOSITIES } from '../../../domain/model-profile.ts';
import { TOOL_NAMES } from '../../../domain/tool-name.ts';
import type * as kinds from './value-kinds.ts';

/** The keys that are set, by their dotted paths. The keys of a profile that was removed are null (ruling 11). */
export type Values = ReadonlyMap<string, unknown>;

/**
 * The name of a kind, with its arguments if it has any: `['integer', 1, 10]`. The kinds themselves are loaded only if a key
 * is set, because that takes time at the start.
 */
export type KindSpec = {
  [Name in keyof typeof kinds]: (typeof kinds)[Name] extends (...args: infer Args) => kinds.ValueKind
    ? readonly [Name, ...Args]
    : Name;
}[keyof typeof kinds];

/** One key of the configuration. */
interface Key {
  /** Dotted, as in YAML. */
  readonly path: string;
  readonly kind: KindSpec;
  readonly default?: unknown;
  /** The environment variable that overrides YAML. */
  readonly variable?: string;
  /** The option of the command line that overrides the variable. */
  readonly option?: string;
  /** Other programs use the variable too: a value that is not accepted is ignored. */
  readonly isSharedVariable?: true;
}

/** IDs are sent in headers. */
const VISIBLE_ASCII = /^[\x21-\x7E]+$/;
const organization: KindSpec = ['text', 'an organization ID, such as org-...', VISIBLE_ASCII];
const project: KindSpec = ['text', 'a project ID, such as proj_...', VISIBLE_ASCII];
const modelId: KindSpec = ['text', 'a model ID, such as gpt-5.2', /^[\w.:/-]+$/];
const country: KindSpec = ['text', 'a country as two letters, such as JP', /^[A-Za-z]{2}$/];
const timezone: KindSpec = ['text', 'an IANA time zone, such as Asia/Tokyo', /^\w[\w+/-]*$/];
const recordings: KindSpec = ['path', 'the path of a folder of recordings, or of one .json or .sse file'];
const httpPath: KindSpec = [
  'text',
  'a path that is not in use for something else, such as /mcp',
  /^\/(?!(?:healthz|readyz|metrics|openapi\.json)$|mcp\/(?:tools|call|servers)(?:\/|$))[\w./~-]*$/,
];
const audience: KindSpec = ['text', 'the audience of tokens, such as https://mcp.example.com/mcp', VISIBLE_ASCII];
const callerClaim: KindSpec = ['text', 'the name of a claim, such as sub', /^[\w.:/-]+$/];
const DEBUG = { variable: 'DEBUG', isSharedVariable: true } as const;

/** Of a profile. Only that of `answer` has variables and defaults (spec 5.4, ruling 11). */
const PROFILE_KEYS: readonly Key[] = [
  { path: 'model', kind: modelId, default: 'gpt-5.2', variable: 'MODEL_ANSWER' },
  { path: 'reasoning_effort', kind: ['oneOf', REASONING_EFFORTS], default: 'medium', variable: 'ANSWER_EFFORT' },
  { path: 'verbosity', kind: ['oneOf', VERBOSITIES], default: 'medium', variable: 'ANSWER_VERBOSITY' },
  { path: 'max_output_tokens', kind: ['integer', 16] },
  { path: 'max_tool_calls', kind: ['integer', 1] },
  { path: 'search_context_size', kind: ['oneOf', SEARCH_CONTEXT_SIZES] },
  { path: 'search', kind: ['oneOf', ['auto', 'required']] },
  { path: 'service_tier', kind: ['oneOf', ['auto', 'default', 'flex', 'priority']] },
  { path: 'reasoning_mode', kind: ['oneOf', ['standard', 'pro']] },
  { path: 'return_token_budget', kind: ['oneOf', ['default', 'unlimited']] },
];
const profileKeys = (tool: string): readonly Key[] =>
  PROFILE_KEYS.map(({ path, kind, ...ofAnswer }) => ({
    path: `model_profiles.${tool}.${path}`,
    kind,
    ...(tool === 'answer' ? ofAnswer : {}),
  }));

/** Every key (spec 5.3 and 5.4, rulings 11 and 15). A key that is not listed is a problem. */
export const KEYS: readonly Key[] = [
  { path: 'openai.api_key_env', kind: 'secretVariable', default: 'OPENAI_API_KEY' },
  { path: 'openai.base_url', kind: 'baseUrl', default: 'https://api.openai.com/v1', variable: 'OPENAI_BASE_URL' },
  { path: 'openai.organization', kind: organization, variable: 'OPENAI_ORG_ID' },
  { path: 'openai.project', kind: project, variable: 'OPENAI_PROJECT_ID' },
  { path: 'openai.store', kind: 'flag', default: false },
  { path: 'request.timeout_ms', kind: ['milliseconds', 1], default: 300_000, variable: 'OPENAI_API_TIMEOUT' },
  { path: 'request.max_retries', kind: ['integer', 0], default: 3, variable: 'OPENAI_MAX_RETRIES' },
  { path: 'request.max_concurrency', kind: ['integer', 1], default: 16, variable: 'OPENAI_MAX_CONCURRENCY' },
  { path: 'request.background', kind: 'flag', default: false },
  { path: 'model_profiles.preset', kind: ['oneOf', ['tuned']], variable: 'MODEL_PROFILES' },
  ...TOOL_NAMES.flatMap(profileKeys),
  { path: 'policy.max_citations', kind: ['integer', 1, 10], default: 3, variable: 'MAX_CITATIONS' },
  { path: 'policy.system.source', kind: ['oneOf', ['builtin', 'file']], default: 'builtin' },
  { path: 'policy.system.path', kind: ['path', 'a path'] },
  { path: 'policy.system.merge', kind: ['oneOf', ['replace', 'prepend', 'append']], default: 'replace' },
  { path: 'search.defaults.recency_days', kind: ['integer', 0], default: 60, variable: 'SEARCH_RECENCY_DAYS' },
  { path: 'search.defaults.max_results', kind: ['integer', 1], default: 5, variable: 'SEARCH_MAX_RESULTS' },
  { path: 'search.defaults.domains', kind: 'hostNames', default: [] },
  { path: 'search.domain_filter', kind: ['oneOf', ['hint', 'strict']], default: 'hint' },
  { path: 'search.blocked_domains', kind: 'hostNames', default: [] },
  { path: 'search.live', kind: 'flag', default: true },
  {
    path: 'search.tool',
    kind: ['text', 'the type of the search tool, such as web_search', /^[\w:.-]+$/],
    default: 'web_search',
  },
  { path: 'search.user_location.country', kind: country },
  { path: 'search.user_location.region', kind: ['text', 'a region, such as Tokyo'] },
  { path: 'search.user_location.city', kind: ['text', 'a city, such as Minato'] },
  { path: 'search.user_location.timezone', kind: timezone },
  { path: 'clock.time_zone', kind: 'timeZone', default: 'Asia/Tokyo', variable: 'TIME_ZONE' },
  { path: 'citations.resolve_dates', kind: 'flag', default: false, variable: 'RESOLVE_DATES' },
  { path: 'llm.adapter', kind: ['oneOf', ['openai', 'offline']], default: 'openai', variable: 'LLM_ADAPTER' },
  { path: 'llm.recordings', kind: recordings, variable: 'LLM_RECORDINGS', option: '--offline' },
  { path: 'llm.record', kind: ['path', 'the path of a folder'], variable: 'LLM_RECORD', option: '--record' },
  { path: 'llm.record_private', kind: 'flag', default: false },
  { path: 'server.debug', kind: 'debugFlag', default: false, ...DEBUG },
  { path: 'server.debug_file', kind: 'debugFile', ...DEBUG, option: '--debug' },
  { path: 'server.show_config_on_start', kind: 'flag', default: false },
  { path: 'server.max_answer_chars', kind: ['integer', 1000], default: 20_000 },
  {
    path: 'server.tool_errors',
    kind: ['oneOf', ['protocol', 'result']],
    default: 'protocol',
    variable: 'MCP_TOOL_ERRORS',
  },
  { path: 'server.line_mode', kind: 'flag', default: false, variable: 'MCP_LINE_MODE' },
  { path: 'http.listen', kind: 'hostPort', default: '127.0.0.1:3917', variable: 'MCP_HTTP_LISTEN', option: '--http' },
  { path: 'http.path', kind: httpPath, default: '/mcp' },
  { path: 'http.token_env', kind: 'tokenVariables', variable: 'MCP_HTTP_TOKEN_ENV' },
  { path: 'http.oauth.issuer', kind: 'secureUrl' },
  { path: 'http.oauth.audience', kind: audience },
  { path: 'http.oauth.resource', kind: 'secureUrl' },
  { path: 'http.oauth.scopes', kind: 'scopes', default: [] },
  { path: 'http.oauth.jwks_uri', kind: 'secureUrl' },
  { path: 'http.oauth.caller_claim', kind: callerClaim, default: 'sub' },
  { path: 'http.allowed_hosts', kind: 'requestHosts', default: [], variable: 'MCP_HTTP_ALLOWED_HOSTS' },
  { path: 'http.allowed_origins', kind: 'origins', default: [], variable: 'MCP_HTTP_ALLOWED_ORIGINS' },
  { path: 'http.page', kind: 'flag', default: true },
  { path: 'http.drain_ms', kind: ['milliseconds', 0], default: 25_000, variable: 'MCP_HTTP_DRAIN_MS' },
  {
    path: 'http.max_body_bytes',
    kind: ['integer', 1024],
    default: 128 * 1024,
    variable: 'MCP_HTTP_MAX_BODY_BYTES',
  },
  { path: 'http.max_connections', kind: ['integer', 1], default: 1000, variable: 'MCP_HTTP_MAX_CONNECTIONS' },
  {
    path: 'http.max_calls_per_token',
    kind: ['integer', 1],
    default: 64,
    variable: 'MCP_HTTP_MAX_CALLS_PER_TOKEN',
  },
  { path: 'http.quota.calls_per_day', kind: ['integer', 0] },
  { path: 'http.quota.searches_per_day', kind: ['integer', 0] },
  { path: 'http.quota.tokens_per_day', kind: ['integer', 0] },
  { path: 'http.quota.callers', kind: 'quotaCallers' },
  { path: 'http.quota.store', kind: 'quotaStore', default: 'memory', variable: 'MCP_HTTP_QUOTA_STORE' },
  { path: 'http.quota.on_store_failure', kind: ['oneOf', ['refuse', 'allow']], default: 'refuse' },
  { path: 'gateway.servers_file', kind: ['path', 'the path of a JSON file with servers'], option: '--servers' },
  { path: 'gateway.expose', kind: 'flag', default: false, option: '--expose' },
  { path: 'gateway.check_output', kind: ['oneOf', ['warn', 'strict']], default: 'warn' },
  { path: 'servers', kind: 'servers' },
  { path: 'grounding.tools', kind: 'groundedTools' },
  { path: 'grounding.web', kind: ['oneOf', ['before', 'always', 'never']], default: 'before' },
  { path: 'grounding.max_rounds', kind: ['integer', 1], default: 6 },
  { path: 'grounding.max_calls', kind: ['integer', 1], default: 20 },
  { path: 'grounding.max_output_chars', kind: ['integer', 1000], default: 20_000 },
  { path: 'grounding.callers', kind: 'callers', default: [] },
];

/** The configuration without YAML, environment and command line. */
export const DEFAULTS: Values = new Map(
  KEYS.filter((key) => key.default !== undefined).map((key) => [key.path, key.default]),
);
