import { CITATION_CHECKS } from '../../../domain/answers/known-page.ts';
import { REASONING_EFFORTS, SEARCH_CONTEXT_SIZES, VERBOSITIES } from '../../../domain/answers/model-profile.ts';
import { integer, milliseconds, oneOf, path, text, type ValueKind } from './kinds.ts';
import * as kinds from './value-kinds.ts';

interface KeyOptions<T> {
  readonly default?: T;
  /** The environment variable that overrides YAML. */
  readonly variable?: string;
  /** The option of the command line that overrides the variable. */
  readonly option?: string;
  /** Other programs use the variable too: a value that is not accepted is ignored. */
  readonly isSharedVariable?: true;
}

/** A key of the configuration, or of a server. */
export interface Key<T = unknown> extends KeyOptions<T> {
  readonly kind: ValueKind<T>;
}

export interface Section {
  readonly [name: string]: Key | Section;
}

export function key<T, const Options extends KeyOptions<T>>(kind: ValueKind<T>, options = {} as Options) {
  return { kind, ...options };
}

/** IDs are sent in headers. */
const VISIBLE_ASCII = /^[\x21-\x7E]+$/;
const HTTP_PATH = /^\/(?!(?:healthz|readyz|metrics|openapi\.json)$|mcp\/(?:tools|call|servers)(?:\/|$))[\w./~-]*$/;
const perDay = key(integer(0));

/** Of a profile. Only that of `answer` has variables and defaults (spec 5.4, ruling 11). */
const PROFILE = {
  model: key(text('a model ID, such as gpt-5.2', /^[\w.:/-]+$/)),
  reasoning_effort: key(oneOf(REASONING_EFFORTS)),
  verbosity: key(oneOf(VERBOSITIES)),
  max_output_tokens: key(integer(16)),
  max_tool_calls: key(integer(1)),
  search_context_size: key(oneOf(SEARCH_CONTEXT_SIZES)),
  search: key(oneOf(['auto', 'required'])),
  service_tier: key(oneOf(['auto', 'default', 'flex', 'priority'])),
  reasoning_mode: key(oneOf(['standard', 'pro'])),
  return_token_budget: key(oneOf(['default', 'unlimited'])),
};

/** Every key (spec 5.3 and 5.4, rulings 11 and 15). A key that is not listed is a problem. */
export const TABLE = {
  openai: {
    api_key_env: key(kinds.secretVariable, { default: 'OPENAI_API_KEY' }),
    base_url: key(kinds.baseUrl, { default: 'https://api.openai.com/v1', variable: 'OPENAI_BASE_URL' }),
    organization: key(text('an organization ID, such as org-...', VISIBLE_ASCII), { variable: 'OPENAI_ORG_ID' }),
    project: key(text('a project ID, such as proj_...', VISIBLE_ASCII), { variable: 'OPENAI_PROJECT_ID' }),
    store: key(kinds.flag, { default: false }),
  },
  request: {
    timeout_ms: key(milliseconds(1), { default: 300_000, variable: 'OPENAI_API_TIMEOUT' }),
    max_retries: key(integer(0), { default: 3, variable: 'OPENAI_MAX_RETRIES' }),
    /** Maximum number of calls that run upstream at the same time. */
    max_concurrency: key(integer(1), { default: 16, variable: 'OPENAI_MAX_CONCURRENCY' }),
    background: key(kinds.flag, { default: false }),
  },
  long_answers: {
    /** The tools whose searches continue if a call ends; none: all of this is off (ruling K1). */
    tools: key(kinds.answerTools, { default: [], variable: 'LONG_ANSWERS' }),
    max_ms: key(milliseconds(1), { default: 3_600_000 }),
    keep_ms: key(milliseconds(1), { default: 3_600_000 }),
    task_after_ms: key(milliseconds(1), { default: 30_000 }),
    orphan_ms: key(milliseconds(0), { default: 120_000 }),
  },
  model_profiles: {
    preset: key(oneOf(['tuned']), { variable: 'MODEL_PROFILES' }),
    answer: {
      ...PROFILE,
      model: key(PROFILE.model.kind, { default: 'gpt-5.2', variable: 'MODEL_ANSWER' }),
      reasoning_effort: key(PROFILE.reasoning_effort.kind, { default: 'medium', variable: 'ANSWER_EFFORT' }),
      verbosity: key(PROFILE.verbosity.kind, { default: 'medium', variable: 'ANSWER_VERBOSITY' }),
    },
    answer_detailed: PROFILE,
    answer_quick: PROFILE,
  },
  policy: {
    max_citations: key(integer(1, 10), { default: 3, variable: 'MAX_CITATIONS' }),
    system: {
      source: key(oneOf(['builtin', 'file']), { default: 'builtin' }),
      path: key(path('a path')),
      merge: key(oneOf(['replace', 'prepend', 'append']), { default: 'replace' }),
    },
  },
  search: {
    defaults: {
      recency_days: key(integer(0), { default: 60, variable: 'SEARCH_RECENCY_DAYS' }),
      max_results: key(integer(1), { default: 5, variable: 'SEARCH_MAX_RESULTS' }),
      domains: key(kinds.hostNames, { default: [] }),
    },
    domain_filter: key(oneOf(['hint', 'strict']), { default: 'hint' }),
    blocked_domains: key(kinds.hostNames, { default: [] }),
    live: key(kinds.flag, { default: true }),
    tool: key(text('the type of the search tool, such as web_search', /^[\w:.-]+$/), { default: 'web_search' }),
    user_location: {
      country: key(text('a country as two letters, such as JP', /^[A-Za-z]{2}$/)),
      region: key(text('a region, such as Tokyo')),
      city: key(text('a city, such as Minato')),
      timezone: key(text('an IANA time zone, such as Asia/Tokyo', /^\w[\w+/-]*$/)),
    },
  },
  clock: { time_zone: key(kinds.timeZone, { default: 'Asia/Tokyo', variable: 'TIME_ZONE' }) },
  citations: {
    resolve_dates: key(kinds.flag, { default: false, variable: 'RESOLVE_DATES' }),
    check: key(oneOf(CITATION_CHECKS), { default: 'off', variable: 'CHECK_CITATIONS', option: '--check' }),
  },
  llm: {
    adapter: key(oneOf(['openai', 'offline']), { default: 'openai', variable: 'LLM_ADAPTER' }),
    /** Without it, those of the package. */
    recordings: key(path('the path of a folder of recordings, or of one .json or .sse file'), {
      variable: 'LLM_RECORDINGS',
      option: '--offline',
    }),
    /** The folder in which replies of the API are recorded. */
    record: key(path('the path of a folder'), { variable: 'LLM_RECORD', option: '--record' }),
    /** Whether grounded answers are recorded too (ruling L22). */
    record_private: key(kinds.flag, { default: false }),
  },
  server: {
    debug: key(kinds.debugFlag, { default: false, variable: 'DEBUG', isSharedVariable: true }),
    debug_file: key(kinds.debugFile, { variable: 'DEBUG', isSharedVariable: true, option: '--debug' }),
    show_config_on_start: key(kinds.flag, { default: false }),
    max_answer_chars: key(integer(1000), { default: 20_000 }),
    tool_errors: key(oneOf(['protocol', 'result']), { default: 'protocol', variable: 'MCP_TOOL_ERRORS' }),
    /** Respond in lines, whatever framing the client uses. */
    line_mode: key(kinds.flag, { default: false, variable: 'MCP_LINE_MODE' }),
  },
  http: {
    listen: key(kinds.hostPort, { default: '127.0.0.1:3917', variable: 'MCP_HTTP_LISTEN', option: '--http' }),
    path: key(text('a path that is not in use for something else, such as /mcp', HTTP_PATH), { default: '/mcp' }),
    token_env: key(kinds.tokenVariables, { variable: 'MCP_HTTP_TOKEN_ENV' }),
    oauth: {
      issuer: key(kinds.secureUrl),
      audience: key(text('the audience of tokens, such as https://mcp.example.com/mcp', VISIBLE_ASCII)),
      /** The public URL of the endpoint. */
      resource: key(kinds.secureUrl),
      scopes: key(kinds.scopes, { default: [] }),
      jwks_uri: key(kinds.secureUrl),
      caller_claim: key(text('the name of a claim, such as sub', /^[\w.:/-]+$/), { default: 'sub' }),
      groups_claim: key(text('the name of a claim, such as groups or realm_access.roles', /^[\w.:/-]+$/)),
    },
    allowed_hosts: key(kinds.requestHosts, { default: [], variable: 'MCP_HTTP_ALLOWED_HOSTS' }),
    allowed_origins: key(kinds.origins, { default: [], variable: 'MCP_HTTP_ALLOWED_ORIGINS' }),
    /** Whether the page for people is served at `/`. */
    page: key(kinds.flag, { default: true }),
    drain_ms: key(milliseconds(0), { default: 25_000, variable: 'MCP_HTTP_DRAIN_MS' }),
    max_body_bytes: key(integer(1024), { default: 128 * 1024, variable: 'MCP_HTTP_MAX_BODY_BYTES' }),
    max_connections: key(integer(1), { default: 1000, variable: 'MCP_HTTP_MAX_CONNECTIONS' }),
    max_calls_per_token: key(integer(1), { default: 64, variable: 'MCP_HTTP_MAX_CALLS_PER_TOKEN' }),
    quota: {
      calls_per_day: perDay,
      searches_per_day: perDay,
      tokens_per_day: perDay,
      callers: key(kinds.quotaCallers),
      store: key(kinds.quotaStore, { default: 'memory', variable: 'MCP_HTTP_QUOTA_STORE' }),
      on_store_failure: key(oneOf(['refuse', 'allow']), { default: 'refuse' }),
    },
  },
  gateway: {
    servers_file: key(path('the path of a JSON file with servers'), { option: '--servers' }),
    /** Whether the servers' tools are also available over MCP, and which of them are listed (ruling T7). */
    expose: key(kinds.exposure, { default: false, option: '--expose' }),
    always: key(kinds.toolPatterns, { default: [] }),
    check_output: key(oneOf(['warn', 'strict']), { default: 'warn' }),
    /** The approved tools (ruling T12). */
    lock: key(path('the path of a file')),
    /** The default is expanded later (`load-config.ts`), because the build evaluates it on another machine. */
    logins: key(path('the path of a folder'), { default: '~/.config/openai-responses-mcp/logins' }),
    /** Whether changes of the files apply without SIGHUP (ruling T20). */
    watch: key(kinds.flag, { default: false }),
  },
  servers: key(kinds.servers),
  access: key(kinds.access),
  audit: {
    file: key(path('the path of a file')),
    arguments: key(oneOf(['none', 'names', 'hash', 'full']), { default: 'names' }),
    on_failure: key(oneOf(['refuse', 'allow']), { default: 'refuse' }),
  },
  grounding: {
    tools: key(kinds.groundedTools),
    web: key(oneOf(['before', 'always', 'never']), { default: 'before' }),
    max_rounds: key(integer(1), { default: 6 }),
    max_calls: key(integer(1), { default: 20 }),
    max_output_chars: key(integer(1000), { default: 20_000 }),
    callers: key(kinds.callers, { default: [] }),
  },
} satisfies Section;

/** The keys with their paths, dotted as in YAML, in the order of the table. */
export const KEYS: readonly (Key & { readonly path: string })[] = keysOf(TABLE, '');

function keysOf(section: Section, prefix: string): (Key & { readonly path: string })[] {
  return Object.entries(section).flatMap(([name, entry]) => {
    const path = prefix + name;
    return isKey(entry) ? { path, ...entry } : keysOf(entry, `${path}.`);
  });
}

export function isKey(entry: Key | Section): entry is Key {
  return 'kind' in entry;
}
