import { LOG_FORMS } from '../logger/stderr-logger.ts';
import { integer, milliseconds, oneOf, path, text } from './kinds.ts';
import { quotaCallers, usd } from './money-kinds.ts';
import { key, type Section } from './table.ts';
import * as kinds from './value-kinds.ts';
import { secretReference } from './value-references.ts';

const HTTP_PATH =
  /^\/(?!(?:healthz|readyz|metrics|openapi\.json)$|(?:mcp\/(?:tools|call|servers)|login)(?:\/|$))[\w./~-]*$/;

/** The keys of serving, the gateway, access, the audit and grounded answers. */
export const SERVING_KEYS = {
  server: {
    debug: key('log debug output to stderr', kinds.debugFlag, {
      default: false,
      variable: 'DEBUG',
      isSharedVariable: true,
    }),
    debug_file: key('with debug, also write the log to this file', kinds.debugFile, {
      variable: 'DEBUG',
      isSharedVariable: true,
      option: '--debug',
    }),
    log: key(
      'while serving, the form of everything on stderr: lines for people (`text`), or only lines of JSON ([log](transports.md#logs-and-metrics))',
      oneOf(LOG_FORMS),
      { default: 'text', variable: 'MCP_LOG' },
    ),
    show_config_on_start: key('print the effective configuration to stderr at the start', kinds.flag, {
      default: false,
    }),
    max_answer_chars: key('maximum length of an answer with its sources, except in `ask`', integer(1000), {
      default: 20_000,
    }),
    tool_errors: key(
      'a failed call is a JSON-RPC error (`protocol`), or a tool result with `isError` (`result`)',
      oneOf(['protocol', 'result']),
      { default: 'protocol', variable: 'MCP_TOOL_ERRORS' },
    ),
    line_mode: key("always respond in lines, regardless of the client's framing", kinds.flag, {
      default: false,
      variable: 'MCP_LINE_MODE',
    }),
  },
  http: {
    listen: key('the address of `--http`; beyond loopback, a token or `http.oauth` is required', kinds.hostPort, {
      default: '127.0.0.1:3917',
      variable: 'MCP_HTTP_LISTEN',
      option: '--http',
    }),
    path: key('the path of MCP', text('a path that is not in use for something else, such as /mcp', HTTP_PATH), {
      default: '/mcp',
    }),
    token_env: key(
      'the variable that contains the token, or one per caller. Tokens are visible ASCII, differ for each caller, and have at least 20 characters beyond loopback',
      kinds.tokenVariables,
      { variable: 'MCP_HTTP_TOKEN_ENV' },
    ),
    token_file: key(
      'a file with a line for each token: the caller, the SHA-256 of the token, and a note ([tokens](../team.md#tokens)); changes apply by themselves',
      path('the path of a file'),
      { variable: 'MCP_HTTP_TOKEN_FILE' },
    ),
    oauth: {
      issuer: key(
        'accept access tokens of this authorization server ([connectors](../connectors.md)); loopback then requires a token, too',
        kinds.secureUrl,
      ),
      audience: key(
        'the audience of these tokens, usually the public URL of the endpoint',
        text('the audience of tokens, such as https://mcp.example.com/mcp', kinds.VISIBLE_ASCII),
      ),
      resource: key(
        'the public URL of the endpoint, whose host is allowed; required if the audience is no URL',
        kinds.secureUrl,
        { absent: 'the audience' },
      ),
      scopes: key('scopes that a token needs, all of them', kinds.scopes, { default: [] }),
      jwks_uri: key("the address of the issuer's keys; by default, from its metadata", kinds.secureUrl),
      client_id: key(
        'the client with which browsers sign in here, for servers with `login: per_caller`; its redirect URI is the public URL with `/login/caller`',
        text('the ID of a registered client, in visible ASCII', kinds.VISIBLE_ASCII),
      ),
      client_secret: key('the secret of this client, if it has one: only a reference', secretReference),
      caller_claim: key('the claim that names the caller', text('the name of a claim, such as sub', /^[\w.:/-]+$/), {
        default: 'sub',
      }),
      groups_claim: key(
        "the claim with the caller's groups, or its path, separated by dots",
        text('the name of a claim, such as groups or realm_access.roles', /^[\w.:/-]+$/),
      ),
    },
    public_url: key(
      'the origin under which browsers reach the endpoint, whose host is allowed: callers [sign in](../team.md#a-login-for-each-caller) there',
      kinds.publicOrigin,
      { absent: 'the origin of `http.oauth.resource`; on loopback, the address itself' },
    ),
    allowed_hosts: key(
      'names allowed in `Host`, besides loopback and the address; `*` requires a token',
      kinds.requestHosts,
      { default: [], variable: 'MCP_HTTP_ALLOWED_HOSTS' },
    ),
    allowed_origins: key('origins whose pages may call the endpoint', kinds.origins, {
      default: [],
      variable: 'MCP_HTTP_ALLOWED_ORIGINS',
    }),
    page: key('serve the page for people at `/`', kinds.flag, { default: true }),
    drain_ms: key('how long calls may run after SIGTERM', milliseconds(0), {
      default: 25_000,
      variable: 'MCP_HTTP_DRAIN_MS',
    }),
    max_body_bytes: key('maximum size of a request', integer(1024), {
      default: 128 * 1024,
      variable: 'MCP_HTTP_MAX_BODY_BYTES',
    }),
    max_connections: key('maximum number of open connections', integer(1), {
      default: 1000,
      variable: 'MCP_HTTP_MAX_CONNECTIONS',
    }),
    max_calls_per_token: key('calls in flight per token', integer(1), {
      default: 64,
      variable: 'MCP_HTTP_MAX_CALLS_PER_TOKEN',
    }),
    quota: {
      calls_per_day: key('calls of a caller per day ([quotas](transports.md#quotas))', integer(0)),
      searches_per_day: key('web searches of a caller per day', integer(0)),
      tokens_per_day: key('input and output tokens of a caller per day', integer(0)),
      usd_per_day: key('dollars of a caller per day, by [prices](#what-an-answer-costs)', usd),
      callers: key('limits of single callers, in place of the general ones', quotaCallers),
      store: key(
        'where quotas are counted: in each process, or in a store that processes share; put a URL with a password into the variable, with `@` as `%40`',
        kinds.quotaStore,
        { default: 'memory', variable: 'MCP_HTTP_QUOTA_STORE' },
      ),
      on_store_failure: key('what happens to calls while the store cannot be used', oneOf(['refuse', 'allow']), {
        default: 'refuse',
      }),
    },
  },
  gateway: {
    servers_file: key(
      'more MCP servers, from a file of [another client](../gateway.md#servers-of-another-client), or a list of files',
      kinds.paths('the path of a file with servers, or a list of paths'),
      { option: '--servers' },
    ),
    inherit_env: key(
      'variables that all servers [inherit](../gateway.md#the-environment-of-a-server), besides those in their own `inherit_env`: a list of names, or `true` for all except our keys',
      kinds.inherited,
      { default: [] },
    ),
    expose: key(
      'offer the tools of the servers over MCP, too; `search`: through tools that find and call them; `auto`: `search` for callers with more than 40 tools',
      kinds.exposure,
      { default: false, option: '--expose' },
    ),
    always: key('tools that are also listed with `search`', kinds.toolPatterns, { default: [] }),
    lock: key(
      'the file of the approved tools, which `tools --lock` writes; other tools are not offered',
      path('the path of a file'),
    ),
    /** The default is expanded only in `load-config.ts`, so that the documents have it as it is written. */
    logins: key('where logins to remote servers are stored', path('the path of a folder'), {
      default: '~/.config/openai-responses-mcp/logins',
    }),
    logins_key: key(
      'the key with which stored logins are encrypted, 32 bytes in base64 or hex: only a reference, which is read at the start',
      secretReference,
    ),
    watch: key('with `--http`, apply changes of the YAML file and the servers file without SIGHUP', kinds.flag, {
      default: false,
    }),
  },
  servers: key('your own MCP servers ([their keys](../gateway.md#configuration))', kinds.servers),
  access: key(
    'who may use which servers, tools and answers ([access](../team.md#access)); without it, every caller may use everything',
    kinds.access,
  ),
  audit: {
    file: key(
      'a line of JSON about each call is appended to this file, whose folder must exist',
      path('the path of a file'),
    ),
    arguments: key(
      'what a line has of the arguments; `full` includes questions ([audit](../team.md#audit))',
      oneOf(['none', 'names', 'hash', 'full']),
      { default: 'names' },
    ),
    on_failure: key('what happens to calls while the file cannot be written', oneOf(['refuse', 'allow']), {
      default: 'refuse',
    }),
  },
  grounding: {
    tools: key(
      'own tools that the model may use in answers; `all`: all that declare that they only read',
      kinds.groundedTools,
    ),
    web: key(
      'when answers with own tools may search the web ([how](../grounded-answers.md#the-web))',
      oneOf(['before', 'always', 'never']),
      {
        default: 'before',
      },
    ),
    max_rounds: key('requests to the API per answer', integer(1), { default: 6 }),
    max_calls: key('calls of own tools per answer', integer(1), { default: 20 }),
    max_output_chars: key('output of a call; per answer, ten times as much', integer(1000), { default: 20_000 }),
    callers: key('the callers who may use own tools in answers over HTTP', kinds.callers, { default: [] }),
  },
} satisfies Section;
