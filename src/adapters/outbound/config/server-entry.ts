import type { JsonObject } from '../../../domain/values/json.ts';
import { attempted } from '../files/local-files.ts';
import { isUnencrypted } from '../network/addresses.ts';
import type { Environment, NamedText } from '../network/environment.ts';
import type { ReadContext } from './kinds.ts';
import { SERVER_WORDS } from './member-words.ts';
import type { Report } from './problems.ts';
import { type OF_ALL, OF_CHILDREN, OF_REMOTES, remoteUrl, SERVER_NAME, SERVER_TABLE } from './server-keys.ts';
import { readMembers, type Tree } from './table.ts';

/** The keys that have no effect on a server with a command, or on one with a URL. */
export const withoutEffect = (isChild: boolean) => Object.keys(isChild ? OF_REMOTES : OF_CHILDREN);

const NO_INPUTS = 'this program cannot ask for inputs; use an environment variable';

/** The context in which all servers of a file are read. */
interface Context {
  readonly environment: Environment;
  /** Receives the variables to which the servers refer. */
  readonly expanded: NamedText[];
  /** The folder at which relative paths start. */
  readonly folder: string;
  readonly defaultTimeoutMs: number;
  /** The variables with keys of this program, which no server inherits. */
  readonly ownSecrets: readonly string[];
  /** Without it, a variable that is not set is a problem. */
  readonly onUnset?: Report | undefined;
}

/** A server as configured. A new key of every server is a member by itself. */
export interface ServerEntry
  extends Omit<Tree<typeof OF_ALL>, 'timeout' | 'startupTimeout' | 'required' | 'tools' | 'public'> {
  readonly name: string;
  readonly connection: Child | Remote;
  readonly timeoutMs: number;
  readonly startupTimeoutMs: number;
  readonly isRequired: boolean;
  readonly filter: Read['tools'];
  /** Whether its tools return nothing private. */
  readonly isPublic: boolean;
  /** The keys whose variables are not set, if they need not be. Their values are not checked, and must not be used. */
  readonly unset?: readonly string[];
}

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
  const { unset, context, report } = withoutUnset(given, reportAny);
  const isChild = value.command != null;
  if (value.name == null) report('name', `required: ${SERVER_NAME.accepted}`);
  if (isChild === (value.url != null)) report('', 'expected exactly one of command and url');
  const ineffective = withoutEffect(isChild);
  for (const key of ineffective) {
    if (value[key] != null) report(key, `has no effect on a server with a ${isChild ? 'command' : 'url'}`);
  }
  const isEffective = (key: string) => !ineffective.includes(key) && !(isChild && key === 'url');
  const effective = Object.entries(value).filter(([key]) => isEffective(key));
  const table = { ...SERVER_TABLE, url: { ...SERVER_TABLE.url, kind: remoteUrl(value.allow_insecure === true) } };
  const reading: ReadContext = {
    where: '',
    folder: context.folder,
    report,
    expand: (text, where, report) => expandVariables(text, where, context, report),
  };
  const read = readMembers(table, Object.fromEntries(effective), reading, SERVER_WORDS);
  const connection = isChild ? toChild(read, value, context, report) : toRemote(read, report);
  // The keys of the connection are left out.
  const { args, cwd, envs, env, inheritEnv, transport, headers, allowInsecure, auth, command, url, ...others } = read;
  const { name = '', timeout, startupTimeout, required, tools, public: isPublic, ...common } = others;
  return {
    ...common,
    name,
    connection,
    timeoutMs: timeout ?? context.defaultTimeoutMs,
    startupTimeoutMs: startupTimeout,
    isRequired: required,
    filter: tools,
    isPublic,
    ...(unset.length > 0 && { unset }),
  };
}

/** Remembers the keys whose variables are not set and need not be, and reports no problem with their values. */
function withoutUnset(context: Context, reportAny: Report) {
  const unset: string[] = [];
  const onUnset: Report = (where, message) => {
    unset.push(where);
    context.onUnset?.(where, message);
  };
  const report: Report = (where, ...problem) => {
    if (!unset.includes(where)) reportAny(where, ...problem);
  };
  return { unset, context: { ...context, ...(context.onUnset && { onUnset }) }, report };
}

function toChild(read: Read, value: JsonObject, { folder, ownSecrets }: Context, report: Report): Child {
  const { command = '', args, cwd = folder, env, envs, inheritEnv } = read;
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
    if (!isSendable) report(`headers.${name}`, 'expected the name and the value of an HTTP header');
  }
  if (auth !== undefined && Object.keys(headers).some((name) => name.toLowerCase() === 'authorization'))
    report('auth', 'cannot be combined with a header Authorization; set only one');
  if (auth !== undefined && URL.canParse(url) && isUnencrypted(url))
    report('auth', 'cannot be used with an http:// URL of another machine, because others could read the tokens');
  return { kind: 'remote', url, transport, headers, ...(auth !== undefined && { auth }) };
}

/** Replaces `${NAME}` and `${NAME:-default}`, which Cursor and VS Code write as `${env:NAME}`. An empty variable counts as missing. */
function expandVariables(text: string, where: string, context: Context, report: Report): string {
  const { environment, expanded, onUnset } = context;
  const read = text.replace(
    /\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g,
    (reference, name: string, fallback: string | undefined) => {
      const found = environment[name] || fallback;
      if (found === undefined && onUnset !== undefined) {
        onUnset(where, `the environment variable ${name} is not set here, so that its value is not checked`);
        return reference;
      }
      if (found === undefined) report(where, `the environment variable ${name} is not set`);
      else expanded.push([name, found]);
      return found ?? '';
    },
  );
  const [input] = /\$\{input:[^}]*\}/.exec(text) ?? [];
  if (input !== undefined) report(where, NO_INPUTS, input);
  return read;
}
