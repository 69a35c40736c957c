import { BUILT_IN_SERVER } from '../../../domain/gateway-tool.ts';
import { isObject, type JsonObject } from '../../../domain/json.ts';
import { isUnencrypted, toHttpUrl } from './addresses.ts';
import { inCamelCase, type Tree } from './config-tree.ts';
import type { Environment, NamedText } from './environment.ts';
import { type Key, key } from './keys.ts';
import { reportUnaccepted } from './layers.ts';
import {
  flag,
  integer,
  listOf,
  milliseconds,
  oneOf,
  path,
  type Report,
  text,
  type ValueKind,
  yamlOnly,
} from './value-kinds.ts';

export const SERVER_NAME = text(
  `a name of at most 32 letters, digits, - and _, without __, other than ${BUILT_IN_SERVER}`,
  new RegExp(`^(?!${BUILT_IN_SERVER}$)(?!.*__)[A-Za-z0-9][A-Za-z0-9_-]{0,31}$`),
);
const TEXT = text('a text');
const TOOLS = listOf('a list of names of tools, with * at an end for any', /^\*?[^*]+\*?$|^\*$/);
const VARIABLES = listOf('a list of names of environment variables, or true', /^[A-Za-z_][A-Za-z0-9_]*$/);

/** Numbers and booleans are what they look like in YAML (`PORT: 8080`). */
const isScalar = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value);
const NO_NUL = 'expected a text without NUL characters';

const TEXTS = yamlOnly<readonly string[]>('a list of texts', (value) =>
  Array.isArray(value) && value.every(isScalar) ? value.map(String) : undefined,
);

/** `envs` or `headers`. No value of them is shown: it may be a secret. */
const TEXTS_BY_NAME: ValueKind<Readonly<Record<string, string>>> = {
  ...yamlOnly('a map of names to texts', (value, { report }) => {
    if (!isObject(value)) return undefined;
    const members = Object.entries(value).map(([name, text]) => {
      if (!isScalar(text)) report(name, 'expected a text');
      return [name, isScalar(text) ? String(text) : ''];
    });
    return Object.fromEntries(members);
  }),
  isSecret: true,
};

const INHERITED: ValueKind<readonly string[] | true> = {
  ...VARIABLES,
  fromYaml: (value, context) => (value === true ? value : VARIABLES.fromYaml(value, context)),
};

const FILTER = yamlOnly('allow and deny, each a list of names of tools', (value, context) => {
  if (!isObject(value)) return undefined;
  const filter: { allow?: readonly string[]; deny?: readonly string[] } = {};
  for (const [key, list] of Object.entries(value)) {
    const names = TOOLS.fromYaml(list, context);
    if (key !== 'allow' && key !== 'deny') context.report(key, 'unknown key; the keys are allow and deny');
    else if (names === undefined) context.report(key, `expected ${TOOLS.accepted}`, list);
    else filter[key] = names;
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
  envs: key(TEXTS_BY_NAME),
  env: key(TEXTS_BY_NAME),
  inherit_env: key(INHERITED, { default: [] }),
  transport: key(oneOf(['auto', 'http', 'sse']), { default: 'auto' }),
  headers: key(TEXTS_BY_NAME, { default: {} }),
  allow_insecure: key(flag, { default: false }),
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
const OF_REMOTES = ['transport', 'headers', 'allow_insecure'];

interface Context {
  readonly environment: Environment;
  /** Receives the variables to which the server refers. */
  readonly expanded: NamedText[];
  /** Relative paths start here. */
  readonly folder: string;
  readonly defaultTimeoutMs: number;
  /** The variables with our keys, which no server inherits (ruling G2). */
  readonly ownSecrets: readonly string[];
}

/** A server as configured (ruling G1). */
export type ServerEntry = NonNullable<ReturnType<typeof readServerEntry>>;

/** Reads one server. Undefined if there is a problem, which was reported. */
export function readServerEntry(value: JsonObject, context: Context, report: Report) {
  let isValid = true;
  const problem: Report = (...reported) => {
    isValid = false;
    report(...reported);
  };
  const isChild = value.command != null;
  if (value.name == null) problem('name', `required: ${SERVER_NAME.accepted}`);
  if (isChild === (value.url != null)) problem('', 'expected exactly one of command and url');
  for (const key of isChild ? OF_REMOTES : OF_CHILDREN) {
    if (value[key] != null) problem(key, `has no effect on a server with a ${isChild ? 'command' : 'url'}`);
  }
  if (isChild && value.envs != null && value.env != null) problem('env', 'is the same as envs; set only one');
  const others = isChild ? ['url', ...OF_REMOTES, ...(value.envs == null ? [] : ['env'])] : OF_CHILDREN;
  const read = readKeys(value, others, context.folder, problem);
  const entry = {
    name: read.name ?? '',
    connection: isChild ? toChild(read, context, problem) : toRemote(read, context, problem),
    timeoutMs: read.timeout ?? context.defaultTimeoutMs,
    startupTimeoutMs: read.startupTimeout,
    restart: read.restart,
    isRequired: read.required,
    filter: read.tools,
    maxConcurrency: read.maxConcurrency,
    maxResponseBytes: read.maxResponseBytes,
    isPublic: read.public,
  };
  return isValid ? entry : undefined;
}

type ServerKeys = Tree<typeof SERVER_TABLE>;

/** The keys other than `ignored`. */
function readKeys(value: JsonObject, ignored: readonly string[], folder: string, report: Report): ServerKeys {
  const members = Object.entries<Key>(SERVER_TABLE).map(([name, { kind, default: fallback }]) => {
    const own = ignored.includes(name) ? undefined : (value[name] ?? undefined);
    const reportMember: Report = (member, ...rest) => report(member === '' ? name : `${name}.${member}`, ...rest);
    const known = own === undefined ? fallback : kind.fromYaml(own, { folder, report: reportMember });
    if (own !== undefined && known === undefined) reportUnaccepted(kind, own, reportMember);
    return [inCamelCase(name), known ?? fallback];
  });
  return Object.fromEntries(members);
}

function toChild(
  { command = '', args, cwd, envs, env = {}, inheritEnv }: ServerKeys,
  context: Context,
  problem: Report,
) {
  for (const name of inheritEnv === true ? [] : inheritEnv) {
    if (context.ownSecrets.includes(name))
      problem('inherit_env', 'expected no variable with a key of this program', name);
  }
  return {
    kind: 'child' as const,
    command: expand(command, 'command', context, problem),
    args: args.map((arg, index) => expand(arg, `args[${index}]`, context, problem)),
    cwd: cwd ?? context.folder,
    envs: expandAll(envs ?? env, envs === undefined ? 'env' : 'envs', context, problem),
    /** Variables that are inherited in addition, or true for all. */
    inheritEnv,
  };
}

function toRemote(
  { url: text = '', transport, headers, allowInsecure }: ServerKeys,
  context: Context,
  problem: Report,
) {
  const url = expand(text, 'url', context, problem);
  const parsed = toHttpUrl(url);
  if (parsed === undefined && url !== '') problem('url', 'expected an http:// or https:// URL', text);
  else if (parsed !== undefined && `${parsed.username}${parsed.password}` !== '')
    problem('url', 'expected a URL without user and password; use headers');
  else if (isUnencrypted(url) && !allowInsecure) {
    problem(
      'url',
      'expected https://, because others could read an http:// connection; or set allow_insecure: true',
      text,
    );
  }
  const expanded = expandAll(headers, 'headers', context, problem);
  for (const [name, value] of Object.entries(expanded)) {
    if (!isSendable(name, value)) problem(`headers.${name}`, 'expected the name and the value of an HTTP header');
  }
  return { kind: 'remote' as const, url, transport, headers: expanded };
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

function expandAll(texts: Readonly<Record<string, string>>, key: string, context: Context, problem: Report) {
  const members = Object.entries(texts).map(([name, text]) => {
    if (name.includes('\0')) problem(key, NO_NUL);
    return [name, expand(text, `${key}.${name}`, context, problem)];
  });
  return Object.fromEntries(members) as Readonly<Record<string, string>>;
}

/** Replaces `${NAME}` and `${NAME:-default}`. An empty variable counts as missing (ruling G1). */
function expand(text: string, key: string, { environment, expanded }: Context, problem: Report): string {
  const read = text.replace(
    /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g,
    (_, name: string, fallback: string | undefined) => {
      const value = environment[name] || fallback;
      if (value === undefined) problem(key, `the environment variable ${name} is not set`);
      else expanded.push([name, value]);
      return value ?? '';
    },
  );
  // Node.js would refuse it when the server starts, with a message that shows the text.
  if (read.includes('\0')) problem(key, NO_NUL);
  return read;
}
