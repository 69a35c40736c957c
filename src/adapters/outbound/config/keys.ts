import { REASONING_EFFORTS, SEARCH_CONTEXT_SIZES, VERBOSITIES } from '../../../domain/model-profile.ts';
import { POLICY_MERGES } from '../../../domain/system-policy.ts';
import { TOOL_NAMES } from '../../../domain/tool-name.ts';
import * as kinds from './value-kinds.ts';

/** The keys that are set, by their dotted paths. The keys of a profile that was removed are null (ruling 11). */
export type Values = ReadonlyMap<string, unknown>;

/** One key of the configuration. */
interface Key {
  /** Dotted, as in YAML. */
  readonly path: string;
  readonly kind: kinds.ValueKind;
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
const organization = kinds.text('an organization ID, such as org-...', VISIBLE_ASCII);
const project = kinds.text('a project ID, such as proj_...', VISIBLE_ASCII);
const modelId = kinds.text('a model ID, such as gpt-5.2', /^[\w.:/-]+$/);
const country = kinds.text('a country as two letters, such as JP', /^[A-Za-z]{2}$/);
const timezone = kinds.text('an IANA time zone, such as Asia/Tokyo', /^\w[\w+/-]*$/);
const recordings = kinds.path('the path of a folder of recordings, or of one .json or .sse file');
const httpPath = kinds.text(
  'a path other than /healthz, /readyz and /metrics, such as /mcp',
  /^\/(?!(?:healthz|readyz|metrics)$)[\w./~-]*$/,
);
const DEBUG = { variable: 'DEBUG', isSharedVariable: true } as const;

/** Of a profile. Only that of `answer` has variables and defaults (spec 5.4, ruling 11). */
const PROFILE_KEYS: readonly Key[] = [
  { path: 'model', kind: modelId, default: 'gpt-5.2', variable: 'MODEL_ANSWER' },
  { path: 'reasoning_effort', kind: kinds.oneOf(REASONING_EFFORTS), default: 'medium', variable: 'ANSWER_EFFORT' },
  { path: 'verbosity', kind: kinds.oneOf(VERBOSITIES), default: 'medium', variable: 'ANSWER_VERBOSITY' },
  { path: 'max_output_tokens', kind: kinds.integer(16) },
  { path: 'max_tool_calls', kind: kinds.integer(1) },
  { path: 'search_context_size', kind: kinds.oneOf(SEARCH_CONTEXT_SIZES) },
];
const profileKeys = (tool: string): readonly Key[] =>
  PROFILE_KEYS.map(({ path, kind, ...ofAnswer }) => ({
    path: `model_profiles.${tool}.${path}`,
    kind,
    ...(tool === 'answer' ? ofAnswer : {}),
  }));

/** Every key (spec 5.3 and 5.4, rulings 11 and 15). A key that is not listed is a problem. */
export const KEYS: readonly Key[] = [
  { path: 'openai.api_key_env', kind: kinds.secretVariable, default: 'OPENAI_API_KEY' },
  { path: 'openai.base_url', kind: kinds.baseUrl, default: 'https://api.openai.com/v1', variable: 'OPENAI_BASE_URL' },
  { path: 'openai.organization', kind: organization, variable: 'OPENAI_ORG_ID' },
  { path: 'openai.project', kind: project, variable: 'OPENAI_PROJECT_ID' },
  { path: 'openai.store', kind: kinds.flag, default: false },
  { path: 'request.timeout_ms', kind: kinds.milliseconds(1), default: 300_000, variable: 'OPENAI_API_TIMEOUT' },
  { path: 'request.max_retries', kind: kinds.integer(0), default: 3, variable: 'OPENAI_MAX_RETRIES' },
  { path: 'request.max_concurrency', kind: kinds.integer(1), default: 16, variable: 'OPENAI_MAX_CONCURRENCY' },
  ...TOOL_NAMES.flatMap(profileKeys),
  { path: 'policy.max_citations', kind: kinds.integer(1, 10), default: 3, variable: 'MAX_CITATIONS' },
  { path: 'policy.system.source', kind: kinds.oneOf(['builtin', 'file']), default: 'builtin' },
  { path: 'policy.system.path', kind: kinds.path('a path') },
  { path: 'policy.system.merge', kind: kinds.oneOf(POLICY_MERGES), default: 'replace' },
  { path: 'search.defaults.recency_days', kind: kinds.integer(0), default: 60, variable: 'SEARCH_RECENCY_DAYS' },
  { path: 'search.defaults.max_results', kind: kinds.integer(1), default: 5, variable: 'SEARCH_MAX_RESULTS' },
  { path: 'search.defaults.domains', kind: kinds.hostNames, default: [] },
  { path: 'search.domain_filter', kind: kinds.oneOf(['hint', 'strict']), default: 'hint' },
  { path: 'search.user_location.country', kind: country },
  { path: 'search.user_location.region', kind: kinds.text('a region, such as Tokyo') },
  { path: 'search.user_location.city', kind: kinds.text('a city, such as Minato') },
  { path: 'search.user_location.timezone', kind: timezone },
  { path: 'llm.adapter', kind: kinds.oneOf(['openai', 'offline']), default: 'openai', variable: 'LLM_ADAPTER' },
  { path: 'llm.recordings', kind: recordings, variable: 'LLM_RECORDINGS', option: '--offline' },
  { path: 'llm.record', kind: kinds.path('the path of a folder'), variable: 'LLM_RECORD', option: '--record' },
  { path: 'server.debug', kind: kinds.debugFlag, default: false, ...DEBUG },
  { path: 'server.debug_file', kind: kinds.debugFile, ...DEBUG, option: '--debug' },
  { path: 'server.show_config_on_start', kind: kinds.flag, default: false },
  { path: 'server.max_answer_chars', kind: kinds.integer(1000), default: 20_000 },
  { path: 'server.tool_errors', kind: kinds.oneOf(['protocol', 'result']), default: 'protocol' },
  { path: 'server.line_mode', kind: kinds.flag, default: false, variable: 'MCP_LINE_MODE' },
  {
    path: 'http.listen',
    kind: kinds.hostPort,
    default: '127.0.0.1:3917',
    variable: 'MCP_HTTP_LISTEN',
    option: '--http',
  },
  { path: 'http.path', kind: httpPath, default: '/mcp' },
  { path: 'http.token_env', kind: kinds.tokenVariables, variable: 'MCP_HTTP_TOKEN_ENV' },
  { path: 'http.allowed_hosts', kind: kinds.requestHosts, default: [], variable: 'MCP_HTTP_ALLOWED_HOSTS' },
  { path: 'http.allowed_origins', kind: kinds.origins, default: [], variable: 'MCP_HTTP_ALLOWED_ORIGINS' },
  { path: 'http.drain_ms', kind: kinds.milliseconds(0), default: 25_000, variable: 'MCP_HTTP_DRAIN_MS' },
  { path: 'http.max_body_bytes', kind: kinds.integer(1024), default: 4 * 1024 * 1024 },
  { path: 'http.max_connections', kind: kinds.integer(1), default: 1000 },
  { path: 'http.max_calls_per_token', kind: kinds.integer(1), default: 64 },
];

/** The configuration without YAML, environment and command line. */
export const DEFAULTS: Values = new Map(
  KEYS.filter((key) => key.default !== undefined).map((key) => [key.path, key.default]),
);
