import type { ConfigProblem } from '../../../application/ports/config.ts';
import type { ValueReference } from '../../../application/ports/values.ts';
import type { JsonObject } from '../../../domain/values/json.ts';
import { attempted } from '../files/local-files.ts';
import { isUnencrypted } from '../network/addresses.ts';
import type { ReadContext } from './kinds.ts';
import { SERVER_WORDS } from './member-words.ts';
import type { Report } from './problems.ts';
import { type ExpandContext, expandReferences } from './references.ts';
import {
  type OF_ALL,
  OF_CHILDREN,
  OF_LOGINS,
  OF_REMOTES,
  remoteUrl,
  SERVER_NAME,
  SERVER_TABLE,
} from './server-keys.ts';
import { readMembers, type Tree } from './table.ts';

/** The keys that have no effect on a server with a command, or on one with a URL. */
export const withoutEffect = (isChild: boolean) => Object.keys(isChild ? { ...OF_REMOTES, ...OF_LOGINS } : OF_CHILDREN);

/** The context in which a server is read. */
interface Context extends Omit<ExpandContext, 'valueFor'> {
  /** The values of files and commands, by their references as JSON. Those that are missing are read when the server starts. */
  readonly values?: ReadonlyMap<string, string> | undefined;
  /** The paths of texts whose references were already replaced. */
  readonly literal?: ReadonlySet<string> | undefined;
  /** Whether the keys of YAML have an effect. */
  readonly isYaml: boolean;
  /** The folder at which relative paths start. */
  readonly folder: string;
  readonly defaultTimeoutMs: number;
  /** The variables with keys of this program, which no server inherits. */
  readonly ownSecrets: readonly string[];
  /** The variables that all servers inherit. */
  readonly inheritEnv: readonly string[] | true;
}

/** A server as configured. A new key of every server is a member by itself. */
export interface ServerEntry
  extends Omit<
    Tree<typeof OF_ALL>,
    'timeout' | 'startupTimeout' | 'questionTimeout' | 'idleMs' | 'required' | 'tools' | 'public'
  > {
  readonly name: string;
  readonly connection: Child | Remote;
  readonly timeoutMs: number;
  readonly startupTimeoutMs: number;
  readonly questionTimeoutMs: number;
  readonly idleMs: number;
  /** Whether one login is used for all callers, or each caller has a login. */
  readonly login: Read['login'];
  /** The maximum number of connections of callers, if each has a login. */
  readonly maxConnections: number;
  readonly isRequired: boolean;
  readonly filter: Read['tools'];
  /** Whether its tools return nothing private. */
  readonly isPublic: boolean;
  /** The keys whose variables are not set, if they need not be. Their values are not checked, and must not be used. */
  readonly unset?: readonly string[];
  /** What has to be read before the server starts. */
  readonly values?: readonly LaterValue[];
  /** Reads the entry with these values, by their references as JSON. Present with `values`. */
  readonly complete?: (values: ReadonlyMap<string, string>) => Completed;
}

/** A key whose value is not checked before it is read from a file or a command. */
interface LaterValue {
  readonly key: string;
  readonly reference: ValueReference;
}

/** An entry with all values, or what is wrong with it. */
export type Completed = { readonly entry: ServerEntry } | { readonly problems: readonly ConfigProblem[] };

type Read = Tree<typeof SERVER_TABLE>;

interface Child extends Pick<Read, 'args' | 'inheritEnv'> {
  readonly kind: 'child';
  readonly command: string;
  readonly cwd: string;
  readonly envs: Read['envs'];
  /** The variables that `inheritEnv: true` leaves out. */
  readonly notInherited?: readonly string[];
}

interface Remote extends Pick<Read, 'transport' | 'headers' | 'auth'> {
  readonly kind: 'remote';
  readonly url: string;
}

/** Reads one server. Problems have the paths of its keys; with a problem, the returned entry is incomplete. */
export function readServerEntry(value: JsonObject, given: Context, reportAny: Report): ServerEntry {
  const { unset, values, context, report } = withoutUnset(given, reportAny);
  const isChild = value.command != null;
  if (value.name == null) report('name', `required: ${SERVER_NAME.accepted}`);
  if (isChild === (value.url != null)) report('', 'expected exactly one of command and url');
  const ineffective = withoutEffect(isChild);
  for (const key of ineffective) {
    if (value[key] != null) report(key, `has no effect on a server with a ${isChild ? 'command' : 'url'}`);
  }
  const isEffective = (key: string) => !ineffective.includes(key) && !(isChild && key === 'url');
  const effective = Object.entries(value).filter(([key]) => isEffective(key));
  const table = {
    ...SERVER_TABLE,
    url: { ...SERVER_TABLE.url, kind: remoteUrl(value.allow_insecure === true, context.isYaml) },
  };
  const reading: ReadContext = {
    where: '',
    folder: context.folder,
    report,
    expand: (text, where, report) =>
      context.literal?.has(where) === true ? text : expandReferences(text, where, context, report),
  };
  const read = readMembers(table, Object.fromEntries(effective), reading, SERVER_WORDS);
  const connection = isChild ? toChild(read, value, context, report) : toRemote(read, report);
  // The keys of the connection are left out.
  const { args, cwd, envs, env, inheritEnv, transport, headers, allowInsecure, auth, command, url, ...others } = read;
  const { name = '', timeout, startupTimeout, questionTimeout, idleMs, maxConnections, ...rest } = others;
  const { required, tools, public: isPublic, ...common } = rest;
  const { login } = common;
  checkLogin({ name, login, maxConnections, connection }, report);
  return {
    ...common,
    ...limitsOf({ login, idleMs, maxConnections }),
    name,
    connection,
    timeoutMs: timeout ?? context.defaultTimeoutMs,
    startupTimeoutMs: startupTimeout,
    questionTimeoutMs: questionTimeout,
    isRequired: required,
    filter: tools,
    isPublic,
    ...(unset.length > 0 && { unset }),
    ...(values.length > 0 && { values }),
  };
}

/** The defaults of a server at which each caller signs in. */
const PER_CALLER = { idleMs: 600_000, maxConnections: 100 };

/** The names of addresses below `/login/`, which no server at which callers sign in may have. */
const LOGIN_ADDRESSES = ['caller', 'callback'];

/** What the keys of logins and connections are, if they are set. */
interface LoginKeys extends Pick<Read, 'login'> {
  readonly idleMs: number | undefined;
  readonly maxConnections: number | undefined;
}

function limitsOf({ login, idleMs, maxConnections }: LoginKeys) {
  return {
    idleMs: idleMs ?? (login === 'per_caller' ? PER_CALLER.idleMs : 0),
    maxConnections: maxConnections ?? PER_CALLER.maxConnections,
  };
}

interface CheckedLogin extends Omit<LoginKeys, 'idleMs'> {
  readonly name: string;
  readonly connection: Child | Remote;
}

/** Reports why callers cannot sign in to a server as themselves. */
function checkLogin({ name, login, maxConnections, connection }: CheckedLogin, report: Report): void {
  if (login === 'shared' && maxConnections !== undefined)
    report('max_connections', 'has no effect without login: per_caller');
  if (login === 'shared') return;
  if (LOGIN_ADDRESSES.includes(name))
    report(
      'name',
      `expected another name with login: per_caller, because /login/${name} is an address of the gateway`,
      name,
    );
  if (connection.kind === 'child') return;
  const { auth, headers, url } = connection;
  if (auth?.grant === 'client_credentials')
    report(
      'login',
      'per_caller cannot be combined with auth.grant: client_credentials, which signs in without a person',
    );
  if (Object.keys(headers).some((header) => header.toLowerCase() === 'authorization'))
    report('login', 'per_caller cannot be combined with a header Authorization, which is the same for all callers');
  if (URL.canParse(url) && isUnencrypted(url))
    report(
      'login',
      'per_caller cannot be used with an http:// URL of another machine, because others could read the tokens',
    );
}

/** Remembers the keys whose variables are not set and need not be, or whose values are read later, and reports no problem with their values. */
function withoutUnset({ values: known, ...context }: Context, reportAny: Report) {
  const unset: string[] = [];
  const values: LaterValue[] = [];
  const valueFor = (reference: ValueReference, where: string) => {
    const text = known?.get(JSON.stringify(reference));
    if (text !== undefined) return text;
    values.push({ key: where, reference });
    return undefined;
  };
  const onUnset: Report = (where, message) => {
    unset.push(where);
    context.onUnset?.(where, message);
  };
  const report: Report = (where, ...problem) => {
    const unchecked = [...unset, ...values.map(({ key }) => key)];
    // A list is also checked as such.
    if (!unchecked.some((key) => key === where || key.startsWith(`${where}[`))) reportAny(where, ...problem);
  };
  return { unset, values, context: { ...context, valueFor, ...(context.onUnset && { onUnset }) }, report };
}

function toChild(
  read: Read,
  value: JsonObject,
  { folder, ownSecrets, inheritEnv: ofAll }: Context,
  report: Report,
): Child {
  const { command = '', args, cwd = folder, env, envs } = read;
  const inheritEnv = ofAll === true || read.inheritEnv === true || [...new Set([...ofAll, ...read.inheritEnv])];
  if (value.envs != null && value.env != null) report('env', 'is the same as envs; set only one');
  for (const name of inheritEnv === true ? [] : inheritEnv) {
    if (ownSecrets.includes(name)) report('inherit_env', 'expected no variable with a key of this program', name);
  }
  return {
    kind: 'child',
    command,
    args,
    cwd,
    envs: { ...env, ...envs },
    inheritEnv,
    // A part of the entry, so that a reload that adds such a variable starts the server again without it.
    ...(inheritEnv === true && { notInherited: ownSecrets }),
  };
}

function toRemote({ url = '', transport, headers, auth }: Read, report: Report): Remote {
  for (const [name, text] of Object.entries(headers)) {
    const isSendable = attempted(() => new Headers({ [name]: text })) !== undefined;
    if (!isSendable) report(`headers.${name}`, 'expected the name of an HTTP header, and its value in one line');
  }
  if (auth !== undefined && Object.keys(headers).some((name) => name.toLowerCase() === 'authorization'))
    report('auth', 'cannot be combined with a header Authorization; set only one');
  if (auth !== undefined && URL.canParse(url) && isUnencrypted(url))
    report('auth', 'cannot be used with an http:// URL of another machine, because others could read the tokens');
  return { kind: 'remote', url, transport, headers, ...(auth !== undefined && { auth }) };
}
