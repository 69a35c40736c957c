import { createInterface } from 'node:readline';
import type { LoginSummary, Logins } from '../../../application/ports/tool-server.ts';
import { ownerName } from '../../../domain/gateway/login-owner.ts';
import { cleanText, withoutUnsafeCharacters } from '../../../domain/values/clean-text.ts';
import { redactedJson } from '../../../domain/values/redaction.ts';
import { BAD_USAGE, FAILED, INTERRUPTED, SUCCEEDED } from '../exit-codes.ts';
import { loginJson } from '../login-json.ts';
import { LOGIN_MESSAGES, loginName, loginWords, type NoLogin } from '../words/server-messages.ts';
import { toolErrorMessage } from '../words/tool-error-messages.ts';
import { type CommandContext, openLine, say as sayOn } from './terminal.ts';

interface LoginsOptions extends CommandContext {
  readonly logins: Logins;
  /** The configured servers by name, each with the reason why a person cannot sign in to it; undefined if a person can. */
  readonly servers: ReadonlyMap<string, NoLogin | undefined>;
}

interface LoginOptions extends LoginsOptions {
  readonly server: string;
  /** The lines that the person types or pastes. */
  readonly lines: AsyncIterable<string>;
  /** Undefined if the person opens the URL. */
  readonly openBrowser: ((url: string) => void) | undefined;
}

/** Waits until a person has signed in to a server, and returns the exit code. `signal` aborts on Ctrl-C. */
export async function login(options: LoginOptions, signal: AbortSignal): Promise<number> {
  const { logins, servers, server, lines, openBrowser, out, err } = options;
  const say = sayTo(options);
  const why = servers.get(server);
  if (why !== undefined) say(LOGIN_MESSAGES.notPossible(server, why));
  if (why !== undefined || !isKnown(options)) return BAD_USAGE;
  const line = openLine(options, LOGIN_MESSAGES.lookingFor(server));
  const onUrl = (url: string, isClientKnown: boolean) => {
    line?.end();
    say(LOGIN_MESSAGES.signInAt(server, openBrowser !== undefined));
    // Not redacted: the issuer needs the complete URL.
    err.write(`${url}\n`);
    say(LOGIN_MESSAGES.paste);
    if (isClientKnown) say(LOGIN_MESSAGES.ifUnknown(server, options.ownCommand));
    openBrowser?.(url);
  };
  const onIgnored = (why: string) => say(LOGIN_MESSAGES.ignored(why));
  const signedIn = await logins.signIn(server, { onUrl, lines, onIgnored }, signal);
  line?.end();
  if (signal.aborted) return INTERRUPTED;
  if (signedIn.isOk()) out(`Signed in to ${options.redactor.inLogs(`${server}: ${loginWords(signedIn.value)}`)}\n`);
  else say(LOGIN_MESSAGES.failed(server, signedIn.error));
  return signedIn.isOk() ? SUCCEEDED : FAILED;
}

/** Prints the logins of the configured servers, and returns the exit code. */
export async function listLogins({ json, ...options }: LoginsOptions & { readonly json: boolean }): Promise<number> {
  const { logins, redactor, isTerminal, out } = options;
  const redact = redactor.inLogs;
  const list = await logins.list();
  if (json) {
    const text = redactedJson({ logins: list.map(loginJson) }, redact, 2);
    out(`${isTerminal ? withoutUnsafeCharacters(text) : text}\n`);
  } else if (list.length === 0) out(`${LOGIN_MESSAGES.none(options.ownCommand)}\n`);
  else for (const login of list) out(`${redact(`${loginName(login)}: ${loginWords(login)}`)}\n`);
  return SUCCEEDED;
}

/** Which logins end: that of this machine to a server or, with a caller, those of the caller, to all servers without a name. */
interface LogoutOptions extends LoginsOptions {
  readonly server: string | undefined;
  readonly caller: string | undefined;
  /** Called when a login of a caller has ended, or could not be ended. */
  readonly onEnded?: ((login: LoginSummary, isDone: boolean) => Promise<void> | undefined) | undefined;
}

/** Ends logins, and returns the exit code. */
export async function logout(
  { server, caller, onEnded, ...options }: LogoutOptions,
  signal: AbortSignal,
): Promise<number> {
  if (server !== undefined && !isKnown({ ...options, server })) return BAD_USAGE;
  const list = caller === undefined ? [] : await options.logins.list();
  const found = list.filter(
    ({ server: name, owner }) => (server ?? name) === name && owner !== undefined && ownerName(owner) === caller,
  );
  const ended = caller === undefined && server !== undefined ? [{ server, owner: undefined }] : found;
  if (ended.length === 0) options.out(`${LOGIN_MESSAGES.ended({ server, caller }, false)}\n`);
  let exitCode = SUCCEEDED;
  for (const one of ended) {
    const code = await endOne(one, options, signal);
    if ('url' in one) await onEnded?.(one, code === SUCCEEDED);
    exitCode = Math.max(exitCode, code);
  }
  return signal.aborted ? INTERRUPTED : exitCode;
}

async function endOne(
  { server, owner }: Pick<LoginSummary, 'server' | 'owner'>,
  { logins, servers, out, ...options }: LoginsOptions,
  signal: AbortSignal,
): Promise<number> {
  const say = sayTo({ out, ...options });
  const signedOut = servers.get(server) === 'command' ? NONE : await logins.signOut(server, signal, owner);
  if (signedOut.kind === 'not_deleted') {
    say(LOGIN_MESSAGES.notDeleted(server, signedOut.reason));
    return FAILED;
  }
  if (signedOut.kind === 'not_revoked') say(LOGIN_MESSAGES.notRevoked(server, signedOut.reason));
  const caller = owner && ownerName(owner);
  out(`${options.redactor.inLogs(LOGIN_MESSAGES.ended({ server, caller }, signedOut.kind !== 'none'))}\n`);
  return SUCCEEDED;
}

const NONE = { kind: 'none' } as const;

/** Writes lines to standard error, redacted, because they may contain text of issuers. */
function sayTo(context: CommandContext): (text: string) => void {
  return (text) => sayOn(context.redactor.inLogs(cleanText(text)), context);
}

/** Whether the server is configured. If it is not, reports that. */
function isKnown({ servers, server, ...options }: LoginsOptions & { readonly server: string }): boolean {
  const isKnown = servers.has(server);
  if (!isKnown) sayTo(options)(toolErrorMessage({ kind: 'unknown_server', server, known: [...servers.keys()] }));
  return isKnown;
}

/**
 * Yields the lines that a person types or pastes, until the input ends. A terminal does not show them, and they can be longer than the 1024 or
 * 4096 bytes to which it otherwise limits a line.
 */
export async function* typedLines(input: NodeJS.ReadStream, onInterrupted: () => void): AsyncGenerator<string> {
  const lines = createInterface({ input, terminal: input.isTTY === true, historySize: 0 });
  // While lines are read from a terminal, Ctrl-C is a character, and no signal of the process.
  lines.on('SIGINT', onInterrupted);
  try {
    yield* lines;
  } catch {
    // An input that cannot be read has ended.
  }
}
