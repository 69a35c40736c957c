import { BUILT_IN_SERVER } from '../../../domain/gateway/call-origin.ts';
import { TOOL_PATTERN } from '../../../domain/gateway/gateway-tool.ts';
import { isUnencrypted, toHttpUrl } from '../network/addresses.ts';
import { integer, listOf, mapOf, matching, milliseconds, oneOf, path, text, yamlOnly } from './kinds.ts';
import { TOOL_RULE_WORDS } from './member-words.ts';
import { auth } from './server-auth.ts';
import { key, membersOf } from './table.ts';
import { flag, inherited } from './value-kinds.ts';

const PATTERNS = listOf(
  'a list of names of tools, with * at either end for any text',
  TOOL_PATTERN,
  /^(?!\s*$)(?:\*?[^*]+\*?|\*)$/,
);

const NAMES = mapOf(
  "a map of the server's own names to new names, all different",
  text('a name of at most 64 letters, digits, - and _', /^[A-Za-z0-9_-]{1,64}$/),
);
const RENAME: typeof NAMES = {
  ...NAMES,
  fromYaml: (value, context) => {
    const names = NAMES.fromYaml(value, context);
    const areDifferent = names && new Set(Object.values(names)).size === Object.keys(names).length;
    return areDifferent ? names : undefined;
  },
};

const MAX_DESCRIPTION = 4096;
const DESCRIBE = mapOf(
  'a map of names to descriptions',
  text(`a description of 1 to ${MAX_DESCRIPTION} characters`, (text) =>
    text !== '' && [...text].length <= MAX_DESCRIPTION ? text : undefined,
  ),
);

const RULES = {
  allow: { kind: PATTERNS },
  deny: { kind: PATTERNS },
  rename: { kind: RENAME },
  describe: { kind: DESCRIBE },
  read_only: { kind: PATTERNS },
};

/** The rules that say which tools of a server exist, and how callers see them. */
const toolRules = membersOf(
  'a map of rules for tools (allow, deny, rename, describe, read_only)',
  RULES,
  TOOL_RULE_WORDS,
);

export const SERVER_NAME = text(
  `a name of at most 32 letters, digits, - and _, without __, other than ${BUILT_IN_SERVER}`,
  new RegExp(`^(?!${BUILT_IN_SERVER}$)(?!.*__)[A-Za-z0-9][A-Za-z0-9_-]{0,31}$`),
);
const TEXT = yamlOnly('a text', matching(/\S/), (value, { where, report, expand }) =>
  typeof value === 'string' && value.trim() !== '' ? expand(value.trim(), where, report) : undefined,
);

const INSECURE = 'expected https://, because others could read an http:// connection; or set allow_insecure: true';
const INSECURE_IN_FILE =
  'expected https://, because others could read an http:// connection; or write this server into the YAML file, with allow_insecure: true';

/** The URL of a remote server. Problems show it with its references to variables. `isYaml`: whether the keys of YAML have an effect. */
export const remoteUrl = (isInsecureAllowed: boolean, isYaml = true) =>
  yamlOnly('a text', matching(/^[Hh][Tt][Tt][Pp][Ss]?:|\$\{/), (value, context) => {
    const { where, report } = context;
    const text = TEXT.fromYaml(value, context);
    const url = toHttpUrl(text ?? '');
    if (url === undefined && text !== undefined) report(where, 'expected an http:// or https:// URL', value);
    else if (url !== undefined && `${url.username}${url.password}` !== '')
      report(where, 'expected a URL without user and password; use headers');
    else if (url !== undefined && isUnencrypted(url.href) && !isInsecureAllowed)
      report(where, isYaml ? INSECURE : INSECURE_IN_FILE, value);
    return text;
  });

/** Types that are accepted as texts: in YAML, `PORT: 8080` is a number. */
const SCALARS = ['string', 'number', 'boolean'];
const SCALAR = { type: SCALARS };
const isScalar = (value: unknown) => SCALARS.includes(typeof value);

const SCALAR_TEXT = yamlOnly('a text', SCALAR, (value, { where, report, expand }) =>
  isScalar(value) ? expand(String(value), where, report) : undefined,
);

const TEXTS = yamlOnly<readonly string[]>(
  'a list of texts',
  { type: 'array', items: SCALAR },
  (value, { where, report, expand }) =>
    Array.isArray(value) && value.every(isScalar)
      ? value.map((text, index) => expand(String(text), `${where}[${index}]`, report))
      : undefined,
);

/** The kind of `envs` and `headers`. Their values are never shown, because they may be secrets. */
const TEXTS_BY_NAME = {
  ...mapOf('a map of names to texts', { ...SCALAR_TEXT, isSecret: true }),
  isSecret: true as const,
};

/** The keys that have an effect on a server with a command. */
export const OF_CHILDREN = {
  args: key('its arguments', TEXTS, { default: [] }),
  cwd: key('the folder in which it runs', path('a text'), { absent: 'the folder of the configuration' }),
  envs: key('environment variables, as a map', TEXTS_BY_NAME, { default: {}, absent: 'none' }),
  env: key('the same as `envs`', TEXTS_BY_NAME, { default: {}, absent: 'none' }),
  inherit_env: key(
    'more variables that it [inherits](#the-environment-of-a-server): a list of names, or `true` for all except our keys',
    inherited,
    { default: [] },
  ),
};

/** The keys that have an effect on a server with a URL. */
export const OF_REMOTES = {
  transport: key(
    '`http` (Streamable HTTP), `sse`, or `auto`: Streamable HTTP, and SSE if the server does not know it',
    oneOf(['auto', 'http', 'sse']),
    { default: 'auto' },
  ),
  headers: key('headers of every request, as a map', TEXTS_BY_NAME, { default: {}, absent: 'none' }),
  allow_insecure: key('allows an `http://` URL of another machine', flag, { default: false }),
  auth: key(
    'how to [sign in](#sign-in), as a map: `grant` (`authorization_code` or `client_credentials`), `client_id`, `client_secret` (only `\u0024{NAME}`), `client_metadata_url`, `issuer`, `scopes`, `resource` (a URI or `none`), `callback_port`',
    auth,
    { absent: 'none' },
  ),
};

/** The keys of remote servers that the gateway reads, rather than the connection. */
export const OF_LOGINS = {
  login: key(
    'one login for all callers (`shared`), or each caller [signs in](team.md#a-login-for-each-caller) as themselves (`per_caller`)',
    oneOf(['shared', 'per_caller']),
    { default: 'shared' },
  ),
  max_connections: key(
    'with `login: per_caller`, connections of callers at the same time; the one that is idle for longest gives way',
    integer(1),
    { absent: '`100`' },
  ),
};

/** The keys of every server. A new one is a member of `ServerEntry` by itself. */
export const OF_ALL = {
  timeout: key('limit of a call in ms, including waits', milliseconds(1), { absent: '`DEFAULT_TIMEOUT`, or `30000`' }),
  startup_timeout: key('limit of a start in ms, until its tools are known', milliseconds(1), { default: 60_000 }),
  question_timeout: key(
    'ms for the answer of a person to a [question of the server](#questions-of-a-server); `timeout` is paused in the meantime',
    milliseconds(1),
    { default: 600_000 },
  ),
  start: key(
    '[starts](#servers-start-when-they-are-used) with its first call (`on_use`), or with the program (`at_once`)',
    oneOf(['at_once', 'on_use']),
    { absent: '`on_use`; `at_once` over HTTP, and for remote servers' },
  ),
  idle_ms: key('ms without a call after which the server is stopped until its next call; `0`: never', milliseconds(0), {
    absent: '`0`; `600000` with `login: per_caller`',
  }),
  restart: key('`on-failure`, or `never`', oneOf(['on-failure', 'never']), { default: 'on-failure' }),
  required: key('`/readyz` reports ready only while this server is available', flag, { default: false }),
  tools: key(
    '`allow` and `deny`: lists of names, with `*` at either end for any text; `deny` wins; `rename`, `describe` and `read_only`: [other names](#other-names-and-descriptions)',
    toolRules,
    { default: {}, absent: 'all tools' },
  ),
  max_concurrency: key('[calls](#calls) that run on the server at the same time', integer(1), { default: 64 }),
  max_response_bytes: key('maximum size of a response', integer(1024), { default: 10 * 1024 * 1024 }),
  forward_baggage: key('passes on the `baggage` of [traces](team.md#traces), which often identifies people', flag, {
    default: false,
  }),
  public: key('its tools return nothing private: they do not [close the web](grounded-answers.md#the-web)', flag, {
    default: false,
  }),
};

/** The keys of a server. */
export const SERVER_TABLE = {
  name: key('unique; at most 32 letters, digits, `-` and `_`, without `__`', SERVER_NAME, { absent: 'required' }),
  command: key('a program, started directly and never through a shell', TEXT),
  url: key('the URL of a remote server; `http://` only on this machine, or with `allow_insecure`', remoteUrl(false)),
  ...OF_CHILDREN,
  ...OF_REMOTES,
  ...OF_LOGINS,
  ...OF_ALL,
};
