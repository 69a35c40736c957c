import { closest, distance } from 'fastest-levenshtein';

/** What people write for the keys of a map, and where these keys are described. */
export interface MemberWords {
  /** The document with the list of the keys. */
  readonly document: string;
  /** What other programs call a key: names in lower case, with `_` between words and blanks between names. */
  readonly meant?: Readonly<Record<string, string>>;
}

export const DOCUMENTS = 'https://github.com/uchimanajet7/openai-responses-mcp/blob/main/docs';

export const SERVER_WORDS: MemberWords = {
  document: `${DOCUMENTS}/gateway.md#configuration`,
  meant: {
    name: 'id label title server server_name',
    command: 'cmd exec executable program binary bin run script',
    url: 'uri endpoint address href link server_url http_url base_url sse_url remote',
    args: 'arguments argument argv arg params parameters options command_args command_arguments',
    cwd: 'working_directory working_dir workdir work_dir current_directory dir directory folder root path',
    envs: 'environment environments environment_variables env_vars env_var variables vars',
    inherit_env: 'inherit inherit_environment pass_env pass_environment env_passthrough passthrough_env',
    transport: 'type transport_type protocol connection mode',
    headers: 'header http_headers request_headers custom_headers env_http_headers',
    'headers.Authorization': 'token bearer bearer_token access_token api_key authorization bearer_token_env_var',
    allow_insecure: 'insecure allow_http',
    auth: 'authentication oauth credentials',
    login: 'logins login_mode login_per_caller per_caller sign_in',
    max_connections: 'max_sessions connections max_clients',
    'auth.scopes': 'scopes scope',
    'auth.client_id': 'client_id',
    'auth.client_secret': 'client_secret',
    timeout: 'call_timeout tool_timeout request_timeout timeout_sec timeout_seconds tool_timeout_sec max_time',
    startup_timeout: 'start_timeout init_timeout initialization_timeout connect_timeout startup_timeout_sec',
    start: 'autostart auto_start start_on lazy',
    idle_ms: 'idle idle_timeout idle_timeout_ms',
    restart: 'restart_policy auto_restart autorestart respawn',
    required: 'mandatory critical optional',
    'tools.allow':
      'allow allowed allow_tools allowed_tools tools_allow enabled_tools include include_tools included_tools tool_filter filter whitelist allowlist',
    'tools.deny':
      'deny denied deny_tools denied_tools tools_deny disabled_tools exclude exclude_tools excluded_tools blocked_tools blacklist denylist',
    'tools.rename': 'rename aliases alias',
    'tools.describe': 'describe description descriptions',
    'tools.read_only': 'read_only readonly',
    max_concurrency: 'concurrency parallel max_parallel parallelism max_calls concurrent_calls',
    max_response_bytes: 'max_bytes max_size max_response_size max_output',
    forward_baggage: 'baggage',
    public: 'is_public private',
  },
};

export const TOOL_RULE_WORDS: MemberWords = {
  document: SERVER_WORDS.document,
  meant: {
    allow: 'only include included includes enabled enable allowed whitelist allowlist',
    deny: 'except exclude excluded excludes disabled disable denied blocked block blacklist denylist',
    rename: 'names aliases alias renames',
    describe: 'description descriptions',
    read_only: 'readonly reads',
  },
};

export const AUTH_WORDS: MemberWords = {
  document: `${DOCUMENTS}/gateway.md#sign-in`,
  meant: {
    grant: 'type grant_type flow',
    client_id: 'id client',
    client_secret: 'secret',
    client_metadata_url: 'metadata_url client_uri',
    issuer: 'authorization_server authorization_servers auth_server auth_server_url issuer_url url',
    scopes: 'scope',
    resource: 'audience',
    callback_port: 'port redirect_port',
  },
};

export const ACCESS_WORDS: MemberWords = {
  document: `${DOCUMENTS}/team.md#access`,
  meant: { servers: 'tools', answers: 'answer', operator: 'admin' },
};

/** The message about a key that does not exist, with the key that was probably meant and the document that has all of them. */
export function unknownKey(name: string, names: readonly string[], words: MemberWords): string {
  const found = meantKey(name, names, words);
  return `unknown key${found === undefined ? '.' : `; did you mean ${found}?`} All keys: ${words.document}`;
}

/** The key that was probably meant by a name that is no key. */
export function meantKey(name: string, names: readonly string[], { meant = {} }: MemberWords): string | undefined {
  const word = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[\s-]+/g, '_')
    .toLowerCase();
  // Such as `timeout_ms`.
  const begun = names.find((known) => word.startsWith(`${known}_`));
  const known = names.includes(word) ? word : undefined;
  const [other] = Object.entries(meant).find(([, words]) => words.split(' ').includes(word)) ?? [];
  return known ?? other ?? nearest(word, names, MAX_TYPOS) ?? begun;
}

/** A text that differs more from a name is probably another name, not a mistyped one. */
export const MAX_TYPOS = 2;

/** The name that is most similar to a text; undefined if every name has more than `maxTypos` differences. */
export function nearest(
  text: string,
  names: readonly string[],
  maxTypos = Number.POSITIVE_INFINITY,
): string | undefined {
  const near = names.filter(({ length }) => Math.abs(length - text.length) <= maxTypos);
  const name = near.length === 0 ? undefined : closest(text, near);
  return name !== undefined && distance(text, name) <= maxTypos ? name : undefined;
}
