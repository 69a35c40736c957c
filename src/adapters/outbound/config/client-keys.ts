import * as util from 'node:util';
import { commandWords } from '../../../domain/values/command-words.ts';
import { isObject, type JsonObject } from '../../../domain/values/json.ts';
import { expandPath } from '../files/local-files.ts';
import type { KeyContext, Targets } from './key-context.ts';
import { toText } from './problems.ts';

type KeyRule =
  | {
      /** What it is here, for the documents. */
      readonly is: string;
      readonly read: (value: unknown, context: KeyContext) => Targets | undefined;
      /** Whether references were already replaced. */
      readonly isLiteral?: true;
    }
  | { readonly notRead: string };

const ASKS = 'not read: the client that calls this program asks before a call';
const NOT_NEEDED = 'not read, because this program does not need it';

/** A key whose value is that of a key in YAML. */
const as = (target: string): KeyRule => ({ is: `\`${target}\``, read: (value) => ({ [target]: value }) });

const seconds = (target: string): KeyRule => ({ is: `\`${target}\`, in seconds`, read: toMs(target, () => 1000) });
const milliseconds = (target: string): KeyRule => ({ is: `\`${target}\`, in ms`, read: toMs(target, () => 1) });

/**
 * Every key of a server that a client documents. A key has one meaning for all clients: where they differ, the value decides. What several keys
 * set is that of the last one, or all of it if it is a list or a map.
 */
export const CLIENT_KEYS = {
  command: { is: '`command`; a list: `command` and `args`', read: readCommand },
  args: { is: '`args`', read: readArguments },
  envFile: { is: '`env`, from a file of variables (`env` wins)', read: readEnvFile, isLiteral: true },
  env_vars: { is: '`env`, from variables of this program', read: readVariables, isLiteral: true },
  environment: { is: '`env`', read: readMap('env') },
  env: { is: '`env`', read: readMap('env') },
  cwd: { is: '`cwd`, from the folder of the project', read: readFolder },
  url: as('url'),
  serverUrl: as('url'),
  httpUrl: { is: '`url` of Streamable HTTP', read: (value) => ({ url: value, transport: 'http' }) },
  type: { is: '`transport`; `sse` tries Streamable HTTP first', read: readTransport },
  transport: { is: 'the same as `type`', read: readTransport },
  transportType: { is: 'the same as `type`', read: readTransport },
  headers: { is: '`headers`', read: readMap('headers') },
  http_headers: { is: '`headers`', read: readMap('headers') },
  env_http_headers: { is: '`headers`, from variables', read: readHeaderVariables, isLiteral: true },
  bearer_token_env_var: { is: 'the variable with the token of `Authorization`', read: readBearer, isLiteral: true },
  timeout: { is: '`timeout`, below 1000 in seconds, of Roo and Cline up to 3600', read: readTimeout },
  tool_timeout_sec: seconds('timeout'),
  startup_timeout_ms: milliseconds('startup_timeout'),
  startup_timeout_sec: seconds('startup_timeout'),
  disabled: { is: '`true` leaves the server out', read: readSwitch },
  enabled: { is: '`false` leaves the server out', read: readSwitch },
  required: as('required'),
  includeTools: as('tools.allow'),
  enabled_tools: as('tools.allow'),
  excludeTools: as('tools.deny'),
  disabled_tools: as('tools.deny'),
  disabledTools: as('tools.deny'),
  tools: {
    is: 'a list: `tools.allow`',
    read: (value, { notRead }) => (isObject(value) ? notRead(ASKS) : { 'tools.allow': value }),
  },
  scopes: { is: '`auth.scopes`', read: readScopes },
  oauth: { is: 'its scopes', read: readOAuth },
  auth: { is: 'its scopes', read: readOAuth },
  oauth_resource: as('auth.resource'),
  headersHelper: { is: '`headers`, as JSON from a command, when the server connects', read: readHelper },
  authProviderType: { notRead: `not read: put a token into headers` },
  targetAudience: { notRead: `not read: put a token into headers` },
  targetServiceAccount: { notRead: `not read: put a token into headers` },
  alwaysAllow: { notRead: ASKS },
  autoApprove: { notRead: ASKS },
  trust: { notRead: ASKS },
  default_tools_approval_mode: { notRead: ASKS },
  watchPaths: { notRead: 'not read: restart the server after a change' },
  dev: { notRead: 'not read: restart the server after a change' },
  sandbox: { notRead: 'not read: the server runs without a sandbox' },
  sandboxEnabled: { notRead: 'not read: the server runs without a sandbox' },
  experimental_environment: { notRead: 'not read: the server runs on this machine' },
  supports_parallel_tool_calls: { notRead: NOT_NEEDED },
  alwaysLoad: { notRead: NOT_NEEDED },
  gallery: { notRead: NOT_NEEDED },
  version: { notRead: NOT_NEEDED },
  description: { notRead: NOT_NEEDED },
  name: {
    is: 'not read: the server has the name of its entry',
    read: (value, { name, notRead }) =>
      value === name ? {} : notRead('not read: the server has the name of its entry'),
  },
  source: { notRead: NOT_NEEDED },
  settings: { notRead: 'not read, because an extension has it: write the command and its variables into the entry' },
} satisfies Readonly<Record<string, KeyRule>>;

/** The rule of a key, if it is known. */
export function ruleOf(key: string): KeyRule | undefined {
  return Object.hasOwn(CLIENT_KEYS, key) ? CLIENT_KEYS[key as keyof typeof CLIENT_KEYS] : undefined;
}

/** Whether an entry is switched off. */
export function isSwitchedOff({ disabled, enabled }: JsonObject): boolean {
  return /^true$/i.test(toText(disabled)) || /^false$/i.test(toText(enabled));
}

function withoutNull(value: unknown): unknown {
  return isObject(value) ? Object.fromEntries(Object.entries(value).filter(([, member]) => member != null)) : value;
}

function readCommand(value: unknown, { documents, entry, report }: KeyContext): Targets | undefined {
  if (isObject(value)) return withoutNull({ command: value.path, args: value.args, env: value.env }) as Targets;
  if (typeof value === 'string' && !documents('args') && entry.args == null)
    return report(`expected a list of texts: ${asList(value)}`);
  const [command, ...args] = Array.isArray(value) ? value : [value];
  const isFromHome = typeof command === 'string' && /^~[/\\]/.test(command);
  return { command: isFromHome ? expandPath(command) : command, ...(args.length > 0 && { args }) };
}

function readArguments(value: unknown, { report }: KeyContext): Targets | undefined {
  return typeof value === 'string' ? report(`expected a list of texts: ${asList(value)}`) : { args: value };
}

/** The list that somebody means who writes a line for a shell. */
function asList(line: string): string {
  return JSON.stringify(line.trim().split(/\s+/));
}

function readMap(target: string) {
  return (value: unknown, { report }: KeyContext): Targets | undefined =>
    isObject(value) ? { [target]: withoutNull(value) } : report('expected a map of names to texts: {"NAME": "text"}');
}

function readEnvFile(value: unknown, { expand, project, readFile, report }: KeyContext): Targets | undefined {
  if (typeof value !== 'string') return report('expected the path of a file');
  const path = expand(value);
  if (path === undefined) return undefined;
  const content = readFile(expandPath(path, project));
  if ('reason' in content) return report(`expected a file of variables that can be read (${content.reason})`);
  // Node.js 20.0 to 20.11 have no such function.
  const { parseEnv }: Partial<typeof util> = util;
  return parseEnv === undefined ? report('needs Node.js 20.12 or later') : { env: { ...parseEnv(content.text) } };
}

/** The variables that a server gets from this program: their names, or objects with a name. Without one, the server starts nevertheless. */
function readVariables(value: unknown, { variable, report, notRead }: KeyContext): Targets | undefined {
  const names = Array.isArray(value) ? value.map((item: unknown) => (isObject(item) ? item.name : item)) : [undefined];
  const texts = names.filter((name) => typeof name === 'string');
  if (texts.length < names.length) return report('expected a list of names of environment variables');
  const values = texts.map((name) => [name, variable(name)] as const);
  const missing = values.flatMap(([name, text]) => (text === undefined ? [name] : []));
  if (missing.length > 0) notRead(`not set here, so that the server starts without it: ${missing.join(', ')}`);
  return { env: Object.fromEntries(values.filter(([, text]) => text !== undefined)) };
}

function readHeaderVariables(value: unknown, { variable, report }: KeyContext): Targets | undefined {
  if (!isObject(value)) return report('expected a map of headers to names of environment variables');
  const headers = Object.entries(value).map(([header, name]) => {
    if (typeof name !== 'string')
      return [header, report('expected the name of an environment variable', header)] as const;
    return [header, variable(name) ?? report(`the environment variable ${name} is not set`, header)] as const;
  });
  return { headers: Object.fromEntries(headers.filter(([, text]) => text !== undefined)) };
}

function readBearer(value: unknown, { variable, report }: KeyContext): Targets | undefined {
  if (typeof value !== 'string') return report('expected the name of an environment variable');
  const token = variable(value);
  if (token === undefined) return report(`the environment variable ${value} is not set`);
  return { headers: { Authorization: `Bearer ${token}` } };
}

/** The words of a command, with its variables, which Claude Code leaves to a shell. */
function readHelper(value: unknown, { expand, report }: KeyContext): Targets | undefined {
  if (typeof value !== 'string') return report('expected a command that prints headers');
  const words = commandWords(value);
  if (words === undefined) return report('expected a command, with each quotation closed');
  const expanded = words.flatMap((word) => expand(word, 'bare') ?? []);
  return expanded.length < words.length ? undefined : { headersHelper: expanded };
}

function readFolder(value: unknown, { expand, project, report }: KeyContext): Targets | undefined {
  if (typeof value !== 'string') return report('expected the path of a folder');
  const path = expand(value);
  return path === undefined ? undefined : { cwd: expandPath(path, project) };
}

/** The transport of a URL, as text or as `{"type": "sse"}`. An address of SSE may speak Streamable HTTP, too, which VS Code tries first. */
function readTransport(given: unknown, { report }: KeyContext): Targets | undefined {
  const value = isObject(given) ? given.type : given;
  if (typeof value !== 'string') return report('expected http, sse or stdio');
  const type = value.toLowerCase().replace(/[-_]/g, '');
  if (type === 'ws' || type === 'websocket')
    return report('expected http, sse or stdio: this program has no WebSocket');
  return type === 'http' || type === 'streamablehttp' ? { transport: 'http' } : {};
}

/** Clients write seconds or milliseconds into one key, and no limit is meant to be some milliseconds. */
function readTimeout(value: unknown, context: KeyContext): Targets | undefined {
  // opencode has one limit for starts, and one for calls.
  if (!isObject(value)) return toMs('timeout', (number) => (number <= context.secondsUpTo ? 1000 : 1))(value, context);
  const start = value.startup == null ? {} : toMs('startup_timeout', () => 1)(value.startup, context);
  const call = value.request == null ? {} : toMs('timeout', () => 1)(value.request, context);
  return start && call && { ...start, ...call };
}

function toMs(target: string, factorOf: (number: number) => number) {
  return (value: unknown, { report }: KeyContext): Targets | undefined => {
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    if (typeof number !== 'number' || !Number.isFinite(number) || number <= 0)
      return report('expected a time limit, as a number');
    return { [target]: Math.ceil(number * factorOf(number)) };
  };
}

function readSwitch(value: unknown, { report }: KeyContext): Targets | undefined {
  return /^(?:true|false)$/i.test(toText(value)) ? {} : report('expected true or false');
}

function readScopes(value: unknown, { entry }: KeyContext): Targets {
  const headers = isObject(entry.headers) ? entry.headers : {};
  // A token of one's own needs no login.
  const hasToken = [...Object.keys(headers), ...Object.keys(entry)].some((key) =>
    /^(?:authorization|bearer_token_env_var)$/i.test(key),
  );
  return hasToken ? {} : { 'auth.scopes': typeof value === 'string' ? value.trim().split(/\s+/) : value };
}

/** The client of another program has that program's address, to which the browser returns, so that only the scopes are of use. */
function readOAuth(value: unknown, context: KeyContext): Targets {
  const { scopes, scope = scopes, oauthScopes = scope, enabled, ...others } = isObject(value) ? value : {};
  if (Object.values(others).some((member) => member != null))
    context.notRead(
      'only its scopes are read, because a login returns to the address of this program: write this server into the YAML file, with auth',
    );
  return oauthScopes == null ? {} : readScopes(oauthScopes, context);
}
