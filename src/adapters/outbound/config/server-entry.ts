import { BUILT_IN_SERVER } from '../../../domain/gateway/call-origin.ts';
import { isObject, type JsonObject } from '../../../domain/values/json.ts';
import { attempted } from '../files/local-files.ts';
import { isUnencrypted, toHttpUrl } from '../network/addresses.ts';
import type { Environment, NamedText } from '../network/environment.ts';
import type { Tree } from './config-tree.ts';
import { key } from './keys.ts';
import { integer, listOf, milliseconds, oneOf, path, text, type ValueKind, yamlOnly } from './kinds.ts';
import { readMembers } from './members.ts';
import type { Report } from './problems.ts';
import { auth } from './server-auth.ts';
import { toolRules } from './tool-rules.ts';
import { flag } from './value-kinds.ts';

export const SERVER_NAME = text(
  `a name of at most 32 letters, digits, - and _, without __, other than ${BUILT_IN_SERVER}`,
  new RegExp(`^(?!${BUILT_IN_SERVER}$)(?!.*__)[A-Za-z0-9][A-Za-z0-9_-]{0,31}$`),
);
const TEXT = yamlOnly('a text', (value, { where, report, expand }) =>
  typeof value === 'string' && value.trim() !== '' ? expand(value.trim(), where, report) : undefined,
);

const INSECURE = 'expected https://, because others could read an http:// connection; or set allow_insecure: true';

/** Problems show the text before variables are replaced. */
const remoteUrl = (isInsecureAllowed: boolean) =>
  yamlOnly('a text', (value, context) => {
    const { where, report } = context;
    const text = TEXT.fromYaml(value, context);
    const url = toHttpUrl(text ?? '');
    if (url === undefined && text !== undefined) report(where, 'expected an http:// or https:// URL', value);
    else if (url !== undefined && `${url.username}${url.password}` !== '')
      report(where, 'expected a URL without user and password; use headers');
    else if (url !== undefined && isUnencrypted(url.href) && !isInsecureAllowed) report(where, INSECURE, value);
    return text;
  });

/** Numbers and booleans are what they look like in YAML (`PORT: 8080`). */
const isScalar = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value);

const TEXTS = yamlOnly<readonly string[]>('a list of texts', (value, { where, report, expand }) =>
  Array.isArray(value) && value.every(isScalar)
    ? value.map((text, index) => expand(String(text), `${where}[${index}]`, report))
    : undefined,
);

/** `envs` or `headers`. No value of them is shown: it may be a secret. */
const TEXTS_BY_NAME: ValueKind<Readonly<Record<string, string>>> = {
  ...yamlOnly('a map of names to texts', (value, { where, report, expand }) => {
    if (!isObject(value)) return undefined;
    const members = Object.entries(value).map(([name, text]) => {
      if (name.includes('\0')) report(where, NO_NUL);
      if (!isScalar(text)) report(`${where}.${name}`, 'expected a text');
      return [name, isScalar(text) ? expand(String(text), `${where}.${name}`, report) : ''];
    });
    return Object.fromEntries(members);
  }),
  isSecret: true,
};
const NO_NUL = 'expected a text without NUL characters';

const VARIABLES = listOf('a list of names of environment variables, or true', /^[A-Za-z_][A-Za-z0-9_]*$/);
const INHERITED = yamlOnly<readonly string[] | true>(VARIABLES.accepted, (value, context) =>
  value === true ? value : VARIABLES.fromYaml(value, context),
);

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
  tools: key(toolRules, { default: {} }),
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
export type ServerEntry = ReturnType<typeof readServerEntry>;

/** Reads one server. Its problems have the paths of its keys; with one, what is returned is incomplete. */
export function readServerEntry(value: JsonObject, context: Context, report: Report) {
  const isChild = value.command != null;
  if (value.name == null) report('name', `required: ${SERVER_NAME.accepted}`);
  if (isChild === (value.url != null)) report('', 'expected exactly one of command and url');
  const withoutEffect = isChild ? OF_REMOTES : OF_CHILDREN;
  for (const key of withoutEffect) {
    if (value[key] != null) report(key, `has no effect on a server with a ${isChild ? 'command' : 'url'}`);
  }
  const isEffective = (key: string) => !withoutEffect.includes(key) && !(isChild && key === 'url');
  const effective = Object.entries(value).filter(([key]) => isEffective(key));
  const table = { ...SERVER_TABLE, url: key(remoteUrl(value.allow_insecure === true)) };
  const read = readMembers(table, Object.fromEntries(effective), {
    where: '',
    folder: context.folder,
    report,
    expand: (text, where, report) => expandVariables(text, where, context, report),
  });
  return {
    name: read.name ?? '',
    connection: isChild ? toChild(read, value, context, report) : toRemote(read, report),
    timeoutMs: read.timeout ?? context.defaultTimeoutMs,
    startupTimeoutMs: read.startupTimeout,
    restart: read.restart,
    isRequired: read.required,
    filter: read.tools,
    maxConcurrency: read.maxConcurrency,
    maxResponseBytes: read.maxResponseBytes,
    /** Its tools return nothing private. */
    isPublic: read.public,
  };
}

type Read = Tree<typeof SERVER_TABLE>;

function toChild(read: Read, value: JsonObject, { folder, ownSecrets }: Context, report: Report) {
  const { command = '', args, cwd = folder, env, envs, inheritEnv } = read;
  if (value.envs != null && value.env != null) report('env', 'is the same as envs; set only one');
  for (const name of inheritEnv === true ? [] : inheritEnv) {
    if (ownSecrets.includes(name)) report('inherit_env', 'expected no variable with a key of this program', name);
  }
  return {
    kind: 'child' as const,
    command,
    args,
    cwd,
    envs: { ...env, ...envs },
    /** Variables that are inherited in addition, or true for all. */
    inheritEnv,
    // In the entry, so that a reload that adds one starts the server again without it.
    ...(inheritEnv === true && { notInherited: ownSecrets }),
  };
}

function toRemote({ url = '', transport, headers, auth }: Read, report: Report) {
  for (const [name, text] of Object.entries(headers)) {
    const isSendable = attempted(() => new Headers({ [name]: text })) !== undefined;
    if (!isSendable) report(`headers.${name}`, 'expected the name and the value of an HTTP header');
  }
  if (auth !== undefined && Object.keys(headers).some((name) => name.toLowerCase() === 'authorization'))
    report('auth', 'cannot be combined with a header Authorization; set only one');
  if (auth !== undefined && URL.canParse(url) && isUnencrypted(url))
    report('auth', 'cannot be used with an http:// URL of another machine, because others could read the tokens');
  return { kind: 'remote' as const, url, transport, headers, ...(auth !== undefined && { auth }) };
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
