import { REASONING_EFFORTS, SEARCH_CONTEXT_SIZES, VERBOSITIES } from '../../../domain/model-profile.ts';
import { POLICY_MERGES } from '../../../domain/system-policy.ts';
import { TOOL_NAMES } from '../../../domain/tool-name.ts';
import {
  baseUrl,
  flag,
  hostNames,
  listenAddress,
  oneOf,
  origins,
  requestHosts,
  text,
  tokenVariables,
  type ValueKind,
  wholeNumber,
} from './value-kinds.ts';

/** One key of the configuration: where it stands in YAML, and the variable that overrides it. */
export interface Key {
  readonly path: string;
  readonly kind: ValueKind;
  readonly variable?: string;
}

const variableName = text('the name of an environment variable', /^\s*[A-Za-z_][A-Za-z0-9_]*\s*$/);
const modelId = text('a model id, such as gpt-5.2', /^\s*[\w.:/-]+\s*$/);
const HTTP_PATH = /^\s*\/(?!(?:healthz|readyz|metrics)\s*$)[\w./~-]*\s*$/;
const filePath = text('a path');
const folder = text('the path of a folder');

/** Every key there is (spec 5.3 and 5.4, rulings 11 and 15). What is not listed is a problem. */
export const KEYS: readonly Key[] = [
  { path: 'openai.api_key_env', kind: variableName },
  { path: 'openai.base_url', kind: baseUrl, variable: 'OPENAI_BASE_URL' },
  { path: 'openai.organization', kind: text('an organization id'), variable: 'OPENAI_ORG_ID' },
  { path: 'openai.project', kind: text('a project id'), variable: 'OPENAI_PROJECT_ID' },
  { path: 'openai.store', kind: flag },
  { path: 'request.timeout_ms', kind: wholeNumber(1, undefined, ' of milliseconds'), variable: 'OPENAI_API_TIMEOUT' },
  { path: 'request.max_retries', kind: wholeNumber(0), variable: 'OPENAI_MAX_RETRIES' },
  { path: 'request.max_concurrency', kind: wholeNumber(1), variable: 'OPENAI_MAX_CONCURRENCY' },
  ...TOOL_NAMES.flatMap(profileKeys),
  { path: 'policy.max_citations', kind: wholeNumber(1, 10), variable: 'MAX_CITATIONS' },
  { path: 'policy.system.source', kind: oneOf(['builtin', 'file']) },
  { path: 'policy.system.path', kind: filePath },
  { path: 'policy.system.merge', kind: oneOf(POLICY_MERGES) },
  { path: 'search.defaults.recency_days', kind: wholeNumber(0), variable: 'SEARCH_RECENCY_DAYS' },
  { path: 'search.defaults.max_results', kind: wholeNumber(1), variable: 'SEARCH_MAX_RESULTS' },
  { path: 'search.defaults.domains', kind: hostNames },
  { path: 'search.domain_filter', kind: oneOf(['hint', 'strict']) },
  { path: 'search.user_location.country', kind: text('a country as two letters, such as JP', /^\s*[A-Za-z]{2}\s*$/) },
  { path: 'search.user_location.region', kind: text('a region, such as Tokyo') },
  { path: 'search.user_location.city', kind: text('a city, such as Minato') },
  { path: 'search.user_location.timezone', kind: text('an IANA time zone, such as Asia/Tokyo', /^\s*\w[\w+/-]*\s*$/) },
  { path: 'llm.adapter', kind: oneOf(['openai', 'offline']), variable: 'LLM_ADAPTER' },
  {
    path: 'llm.recordings',
    kind: text('the path of a folder of recordings, or of one .json or .sse file'),
    variable: 'LLM_RECORDINGS',
  },
  { path: 'llm.record', kind: folder, variable: 'LLM_RECORD' },
  { path: 'server.debug', kind: flag },
  { path: 'server.debug_file', kind: filePath },
  { path: 'server.show_config_on_start', kind: flag },
  { path: 'server.max_answer_chars', kind: wholeNumber(1000) },
  { path: 'server.tool_errors', kind: oneOf(['protocol', 'result']) },
  { path: 'http.listen', kind: listenAddress, variable: 'MCP_HTTP_LISTEN' },
  {
    path: 'http.path',
    kind: text('a path other than /healthz, /readyz and /metrics, such as /mcp', HTTP_PATH),
  },
  { path: 'http.token_env', kind: tokenVariables, variable: 'MCP_HTTP_TOKEN_ENV' },
  { path: 'http.allowed_hosts', kind: requestHosts, variable: 'MCP_HTTP_ALLOWED_HOSTS' },
  { path: 'http.allowed_origins', kind: origins, variable: 'MCP_HTTP_ALLOWED_ORIGINS' },
  { path: 'http.drain_ms', kind: wholeNumber(0, undefined, ' of milliseconds'), variable: 'MCP_HTTP_DRAIN_MS' },
  { path: 'http.max_body_bytes', kind: wholeNumber(1024) },
  { path: 'http.max_connections', kind: wholeNumber(1) },
  { path: 'http.max_calls_per_token', kind: wholeNumber(1) },
];

/** Only the profile of `answer` has variables (spec 5.4). */
function profileKeys(tool: string): Key[] {
  const variables = tool === 'answer' ? ['MODEL_ANSWER', 'ANSWER_EFFORT', 'ANSWER_VERBOSITY'] : [];
  const kinds: readonly (readonly [string, ValueKind])[] = [
    ['model', modelId],
    ['reasoning_effort', oneOf(REASONING_EFFORTS)],
    ['verbosity', oneOf(VERBOSITIES)],
    ['max_output_tokens', wholeNumber(16)],
    ['max_tool_calls', wholeNumber(1)],
    ['search_context_size', oneOf(SEARCH_CONTEXT_SIZES)],
  ];
  return kinds.map(([name, kind], index) => {
    const variable = variables[index];
    return { path: `model_profiles.${tool}.${name}`, kind, ...(variable === undefined ? {} : { variable }) };
  });
}
