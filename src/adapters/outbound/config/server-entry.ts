import { BUILT_IN_SERVER } from '../../../domain/gateway/gateway-tool.ts';
import { isObject, type JsonObject } from '../../../domain/values/json.ts';
import { isUnencrypted, toHttpUrl } from '../network/addresses.ts';
import type { Environment, NamedText } from '../network/environment.ts';
import type { ValueOf } from './config-tree.ts';
import { type Key, key } from './keys.ts';
import { integer, listOf, milliseconds, oneOf, path, text, type ValueKind, yamlOnly } from './kinds.ts';
import { readValue } from './layers.ts';
import type { Report } from './problems.ts';
import { auth } from './server-auth.ts';
import { flag } from './value-kinds.ts';

export const SERVER_NAME = text(
  `a name of at most 32 letters, digits, - and _, without __, other than ${BUILT_IN_SERVER}`,
  new RegExp(`^(?!${BUILT_IN_SERVER}$)(?!.*__)[A-Za-z0-9][A-Za-z0-9_-]{0,31}$`),
);
const TOOLS = listOf('a list of names of tools, with * at an end for any', /^\*?[^*]+\*?$|^\*$/);
const VARIABLES = listOf('a list of names of environment variables, or true', /^[A-Za-z_][A-Za-z0-9_]*$/);

const TEXT = yamlOnly('a text', (value, { where, expand }) =>
  typeof value === 'string' && value.trim() !== '' ? expand(value.trim(), where) : undefined,
);

/** Numbers and booleans are what they look like in YAML (`PORT: 8080`). */
const isScalar = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value);

const TEXTS = yamlOnly<readonly string[]>('a list of texts', (value, { where, expand }) =>
  Array.isArray(value) && value.every(isScalar)
    ? value.map((text, index) => expand(String(text), `${where}[${index}]`))
    : undefined,
);

/** `envs` or `headers`. No value of them is shown: it may be a secret. */
const TEXTS_BY_NAME: ValueKind<Readonly<Record<string, string>>> = {
  ...yamlOnly('a map of names to texts', (value, { where, report, expand }) => {
    if (!isObject(value)) return undefined;
    const members = Object.entries(value).map(([name, text]) => {
      if (name.includes('\0')) report(where, NO_NUL);
      if (!isScalar(text)) report(`${where}.${name}`, 'expected a text');
      return [name, isScalar(text) ? expand(String(text), `${where}.${name}`) : ''];
    });
    return Object.fromEntries(members);
  }),
  isSecret: true,
};
const NO_NUL = 'expected a text without NUL characters';

const INHERITED: ValueKind<readonly string[] | true> = {
  ...VARIABLES,
  fromYaml: (value, context) => (value === true ? value : VARIABLES.fromYaml(value, context)),
};

const FILTER = yamlOnly('allow and deny, each a list of names of tools', (value, context) => {
  if (!isObject(value)) return undefined;
  const filter: { allow?: readonly string[]; deny?: readonly string[] } = {};
  for (const [key, list] of Object.entries(value)) {
    const where = `${context.where}.${key}`;
    if (key !== 'allow' && key !== 'deny') context.report(where, 'unknown key; the keys are allow and deny');
    else filter[key] = readValue(TOOLS, list, { ...context, where }) ?? [];
  }
  return filter;
});

/** The keys of a server (ruling G1). */
export const SERVER_TABLE = {
  name: key(SERVER_NAME),
  command: key(TEXT),
  url: key(TEXT),
  args: key(TEXTS, { default: [] }),
  cwd: key(path('a text')),
  envs: key(TEXTS_BY_NAME, { default: {} }),
  env: key(TEXTS_BY_NAME, { default: {} }),
  inherit_env: key(INHERITED, { default: [] }),
  transport: key(oneOf(['auto', 'http', 'sse']), { default: 'auto' }),
  headers: key(TEXTS_BY_NAME, { default: {} }),
  allow_insecure: key(flag, { default: false }),
  auth: key(auth),
  timeout: key(milliseconds(1)),
  startup_timeout: key(milliseconds(1), { default: 60_000 }),
  restart: key(oneOf(['on-failure', 'never']), { default: 'on-failure' }),
  required: key(flag, { default: false }),
  tools: key(FILTER, { default: {} }),
  max_concurrency: key(integer(1), { default: 64 }),
  max_response_bytes: key(integer(1024), { default: 10 * 1024 * 1024 }),
  /** Its tools return nothing private. */
  public: key(flag, { default: false }),
};
const OF_CHILDREN = ['args', 'cwd', 'envs', 'env', 'inherit_env'];
const OF_REMOTES = ['transport', 'headers', 'allow_insecure', 'auth'];

/** What the servers of a source have in common. */
interface Context {
  readonly environment: Environment;
  /** Receives the variables to which the servers refer. */
  readonly expanded: NamedText[];
  /** Relative paths start here. */
  readonly folder: string;
  readonly defaultTimeoutMs: number;
  /** The variables with our keys, which no server inherits (ruling G2). */
  readonly ownSecrets: readonly string[];
}

/** A server as configured (ruling G1). */
export type ServerEntry = NonNullable<ReturnType<typeof readServerEntry>>;

/** Reads one server. Undefined if there is a problem, which was reported with the path of its key in the server. */
export function readServerEntry(value: JsonObject, context: Context, report: Report) {
  let isValid = true;
  const problem: Report = (...reported) => {
    isValid = false;
    report(...reported);
  };
  const read: Read = (where) => {
    const { kind, default: fallback }: Key = SERVER_TABLE[where];
    const own = value[where] ?? undefined;
    const expand = (text: string, where: string, report = problem) => expandVariables(text, where, context, report);
    const { folder } = context;
    const known = own === undefined ? undefined : readValue(kind, own, { where, folder, report: problem, expand });
    return (known ?? fallback) as ValueOf<Table[typeof where]>;
  };
  if (value.name == null) problem('name', `required: ${SERVER_NAME.accepted}`);
  const entry = {
    name: read('name') ?? '',
    connection: readConnection(value, read, context, problem),
    timeoutMs: read('timeout') ?? context.defaultTimeoutMs,
    startupTimeoutMs: read('startup_timeout'),
    restart: read('restart'),
    isRequired: read('required'),
    filter: read('tools'),
    maxConcurrency: read('max_concurrency'),
    maxResponseBytes: read('max_response_bytes'),
    /** Its tools return nothing private. */
    isPublic: read('public'),
  };
  return isValid ? entry : undefined;
}

type Table = typeof SERVER_TABLE;
type Read = <Name extends keyof Table>(name: Name) => ValueOf<Table[Name]>;

function readConnection(value: JsonObject, read: Read, context: Context, report: Report) {
  const isChild = value.command != null;
  if (isChild === (value.url != null)) report('', 'expected exactly one of command and url');
  for (const key of isChild ? OF_REMOTES : OF_CHILDREN) {
    if (value[key] != null) report(key, `has no effect on a server with a ${isChild ? 'command' : 'url'}`);
  }
  return isChild ? readChild(value, read, context, report) : readRemote(value, read, report);
}

function readChild(value: JsonObject, read: Read, context: Context, report: Report) {
  if (value.envs != null && value.env != null) report('env', 'is the same as envs; set only one');
  /** Variables that are inherited in addition, or true for all. */
  const inheritEnv = read('inherit_env');
  for (const name of inheritEnv === true ? [] : inheritEnv) {
    if (context.ownSecrets.includes(name))
      report('inherit_env', 'expected no variable with a key of this program', name);
  }
  return {
    kind: 'child' as const,
    command: read('command') ?? '',
    args: read('args'),
    cwd: read('cwd') ?? context.folder,
    envs: read(value.envs == null ? 'env' : 'envs'),
    inheritEnv,
    // In the entry, so that a reload that adds one starts the server again without it.
    ...(inheritEnv === true && { notInherited: context.ownSecrets }),
  };
}

function readRemote(value: JsonObject, read: Read, report: Report) {
  const received = read('url');
  const url = received ?? '';
  const isInsecureAllowed = read('allow_insecure');
  const parsed = toHttpUrl(url);
  // The text before variables were replaced is shown.
  if (parsed === undefined && received !== undefined) report('url', 'expected an http:// or https:// URL', value.url);
  else if (parsed !== undefined && `${parsed.username}${parsed.password}` !== '')
    report('url', 'expected a URL without user and password; use headers');
  else if (isUnencrypted(url) && !isInsecureAllowed) {
    report(
      'url',
      'expected https://, because others could read an http:// connection; or set allow_insecure: true',
      value.url,
    );
  }
  const headers = read('headers');
  for (const [name, text] of Object.entries(headers)) {
    if (!isSendable(name, text)) report(`headers.${name}`, 'expected the name and the value of an HTTP header');
  }
  const auth = read('auth');
  if (auth !== undefined) {
    if (Object.keys(headers).some((name) => name.toLowerCase() === 'authorization'))
      report('auth', 'cannot be combined with a header Authorization; set only one');
    if (parsed !== undefined && isUnencrypted(url))
      report('auth', 'cannot be used with an http:// URL of another machine, because others could read the tokens');
  }
  return { kind: 'remote' as const, url, transport: read('transport'), headers, ...(auth !== undefined && { auth }) };
}

/** Whether `fetch` accepts a header. */
function isSendable(name: string, value: string): boolean {
  try {
    new Headers({ [name]: value });
    return true;
  } catch {
    return false;
  }
}

/** Replaces `${NAME}` and `${NAME:-default}`. An empty variable counts as missing (ruling G1). */
function expandVariables(text: string, where: string, { environment, expanded }: Context, report: Report): string {
  const read = text.replace(
    /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g,
    (_, name: string, fallback: string | undefined) => {
      const found = environment[name] || fallback;
      if (found === undefined) report(where, `the environment variable ${name} is not set`);
      else expanded.push([name, found]);
      return found ?? '';
    },
  );
  // Node.js would refuse it when the server starts, with a message that shows the text.
  if (read.includes('\0')) report(where, NO_NUL);
  return read;
}
