import { BUILT_IN_SERVER, type ToolFilter } from '../../../domain/gateway-tool.ts';
import { isObject, type JsonObject } from '../../../domain/json.ts';
import { expandPath } from './files.ts';
import { isUnencrypted } from './listen-address.ts';
import { isSendable, type Report, readArgs, readMap, readText, type Variables } from './server-texts.ts';
import { flag, integer, listOf, milliseconds, oneOf, text, type ValueKind } from './value-kinds.ts';

/** A server as configured (ruling G1). */
export interface ServerEntry {
  readonly name: string;
  readonly connection: ChildEntry | RemoteEntry;
  readonly timeoutMs: number;
  readonly startupTimeoutMs: number;
  readonly restart: 'on-failure' | 'never';
  readonly isRequired: boolean;
  readonly filter: ToolFilter;
  readonly maxConcurrency: number;
  readonly maxResponseBytes: number;
  /** Its tools return nothing private. */
  readonly isPublic: boolean;
}

interface ChildEntry {
  readonly kind: 'child';
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly envs: Readonly<Record<string, string>>;
  /** Variables that are inherited in addition, or true for all. */
  readonly inheritEnv: readonly string[] | true;
}

interface RemoteEntry {
  readonly kind: 'remote';
  readonly url: string;
  readonly transport: 'auto' | 'http' | 'sse';
  readonly headers: Readonly<Record<string, string>>;
}

interface Context {
  readonly variables: Variables;
  /** Relative paths start here. */
  readonly folder: string;
  readonly defaultTimeoutMs: number;
  /** The variables with our keys, which no server inherits (ruling G2). */
  readonly ownSecrets: readonly string[];
}

export const SERVER_NAME = text(
  `a name of at most 32 letters, digits, - and _, without __, other than ${BUILT_IN_SERVER}`,
  new RegExp(`^(?!${BUILT_IN_SERVER}$)(?!.*__)[A-Za-z0-9][A-Za-z0-9_-]{0,31}$`),
);
const TEXT = text('a text');
const PATTERN = listOf('a list of names of tools, with * at an end for any', (name) =>
  /^\*?[^*]+\*?$|^\*$/.test(name) ? name : undefined,
);
const VARIABLES = listOf('a list of names of environment variables, or true', (name) =>
  /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? name : undefined,
);

const CHILD_KEYS = ['args', 'cwd', 'envs', 'env', 'inherit_env'];
const REMOTE_KEYS = ['transport', 'headers', 'allow_insecure'];

export const SERVER_KEYS: readonly string[] = [
  ...[
    'name',
    'command',
    'url',
    ...CHILD_KEYS,
    ...REMOTE_KEYS,
    'timeout',
    'startup_timeout',
    'restart',
    'required',
    'tools',
  ],
  ...['max_concurrency', 'max_response_bytes', 'public'],
];

/** Reads one server. Undefined if there is a problem, which was reported. */
export function readServerEntry(value: JsonObject, context: Context, report: Report): ServerEntry | undefined {
  let isValid = true;
  const problem: Report = (key, message, received) => {
    isValid = false;
    report(key, message, received);
  };
  const read = <T>(key: string, kind: ValueKind, fallback: T): T => {
    if (value[key] === undefined || value[key] === null) return fallback;
    const known = kind.fromYaml(value[key]);
    if (known === undefined) problem(key, `expected ${kind.accepted}`, value[key]);
    return known === undefined ? fallback : (known as T);
  };
  if (value.name == null) problem('name', `required: ${SERVER_NAME.accepted}`);
  const entry: ServerEntry = {
    name: read('name', SERVER_NAME, ''),
    connection: readConnection(value, context, problem, read),
    timeoutMs: read('timeout', milliseconds(1), context.defaultTimeoutMs),
    startupTimeoutMs: read('startup_timeout', milliseconds(1), 60_000),
    restart: read<'on-failure' | 'never'>('restart', oneOf(['on-failure', 'never']), 'on-failure'),
    isRequired: read('required', flag, false),
    filter: readFilter(value.tools, problem),
    maxConcurrency: read('max_concurrency', integer(1), 64),
    maxResponseBytes: read('max_response_bytes', integer(1024), 10 * 1024 * 1024),
    isPublic: read('public', flag, false),
  };
  return isValid ? entry : undefined;
}

type Read = <T>(key: string, kind: ValueKind, fallback: T) => T;

function readConnection(value: JsonObject, context: Context, problem: Report, read: Read): ChildEntry | RemoteEntry {
  const isChild = value.command != null;
  if (isChild === (value.url != null)) problem('', 'expected exactly one of command and url');
  for (const key of isChild ? REMOTE_KEYS : CHILD_KEYS) {
    if (value[key] != null) problem(key, `has no effect on a server with a ${isChild ? 'command' : 'url'}`);
  }
  return isChild ? readChild(value, context, problem, read) : readRemote(value, context, problem, read);
}

function readChild(value: JsonObject, context: Context, problem: Report, read: Read): ChildEntry {
  if (value.envs != null && value.env != null) problem('env', 'is the same as envs; set only one');
  const envsKey = value.envs == null ? 'env' : 'envs';
  const inherited = value.inherit_env === true ? true : read<readonly string[]>('inherit_env', VARIABLES, []);
  for (const name of inherited === true ? [] : inherited) {
    if (context.ownSecrets.includes(name))
      problem('inherit_env', 'expected no variable with a key of this program', name);
  }
  return {
    kind: 'child',
    command: readText(read('command', TEXT, ''), 'command', context.variables, problem),
    args: readArgs(value.args, context.variables, problem),
    cwd: expandPath(read('cwd', TEXT, '.'), context.folder),
    envs: readMap(value[envsKey], envsKey, context.variables, problem),
    inheritEnv: inherited,
  };
}

function readRemote(value: JsonObject, context: Context, problem: Report, read: Read): RemoteEntry {
  const url = readText(read('url', TEXT, ''), 'url', context.variables, problem);
  const isInsecureAllowed = read('allow_insecure', flag, false);
  if (url !== '') checkUrl(url, value.url, isInsecureAllowed, problem);
  const headers = readMap(value.headers, 'headers', context.variables, problem);
  for (const [name, text] of Object.entries(headers)) {
    if (!isSendable(name, text)) problem(`headers.${name}`, 'expected the name and the value of an HTTP header');
  }
  return {
    kind: 'remote',
    url,
    transport: read<'auto' | 'http' | 'sse'>('transport', oneOf(['auto', 'http', 'sse']), 'auto'),
    headers,
  };
}

function checkUrl(url: string, shown: unknown, isInsecureAllowed: boolean, problem: Report): void {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol))
    problem('url', 'expected an http:// or https:// URL', shown);
  else if (`${parsed.username}${parsed.password}` !== '')
    problem('url', 'expected a URL without user and password; use headers');
  else if (isUnencrypted(url) && !isInsecureAllowed) {
    problem(
      'url',
      'expected https://, because others could read an http:// connection; or set allow_insecure: true',
      shown,
    );
  }
}

function readFilter(value: unknown, problem: Report): ToolFilter {
  if (value == null) return {};
  if (!isObject(value)) {
    problem('tools', 'expected allow and deny, each a list of names of tools', value);
    return {};
  }
  const filter: { allow?: readonly string[]; deny?: readonly string[] } = {};
  for (const [key, list] of Object.entries(value)) {
    const names = PATTERN.fromYaml(list) as readonly string[] | undefined;
    if (key !== 'allow' && key !== 'deny') problem(`tools.${key}`, 'unknown key; the keys are allow and deny');
    else if (names === undefined) problem(`tools.${key}`, `expected ${PATTERN.accepted}`, list);
    else filter[key] = names;
  }
  return filter;
}
