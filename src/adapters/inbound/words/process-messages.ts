import type { ConfigProblem } from '../../../application/ports/config.ts';
import type { Logger } from '../../../application/ports/services.ts';
import { LOCAL_CALLER } from '../../../domain/gateway/call-origin.ts';
import { advised, INSTALLED, type OwnCommand } from '../../../domain/gateway/own-command.ts';
import { type GroundingPolicy, servesNoCaller } from '../../../domain/grounded/grounding.ts';
import { isObject } from '../../../domain/values/json.ts';
import { count } from './plain.ts';

/** What is wrong with a typed command, and the command as it may be typed, without the program. */
export interface BadUsage {
  readonly problem: string;
  readonly example?: string | undefined;
  /** The command whose help says more. */
  readonly topic?: string | undefined;
}

/** Messages about the process itself, on standard error. */
export const PROCESS = {
  waiting: ({ program }: OwnCommand) =>
    `Waiting for MCP messages from a client on standard input. Press Ctrl-C to stop. For help: ${program} --help\n`,
  badUsage: ({ problem, example, topic }: BadUsage, ownCommand = INSTALLED) =>
    `${problem}${example === undefined ? '' : `: ${advised(example, ownCommand)}`}\nTry ${ownCommand.program} ${topic === undefined ? '' : `${topic} `}--help\n`,
  noLock: (option: string) => `--${option} needs gateway.lock, the path of a file, in the configuration`,
  newToken: (caller: string) =>
    `The first line is the token. It is not stored and not shown again: give it to ${caller}. Add the second line, which has only its hash, to the file http.token_file.\n`,
  lostOutput: (code: string) =>
    `Cannot write to standard output (${code}); the output is lost. Redirect it elsewhere.\n`,
  nothingChecked: '--check: with --offline, nothing is checked.\n',
  missingFile:
    'A file of this program is missing: the program was updated while it ran, or its installation is incomplete. Restart it; if that does not help, install it again.',
};

/** The message for a part of the program that could not be loaded when it was first needed; undefined for any other exception. */
export function missingFileMessage(thrown: unknown): string | undefined {
  const isMissing = isObject(thrown) && /^(?:ERR_)?MODULE_NOT_FOUND$/.test(String(thrown.code));
  return isMissing ? PROCESS.missingFile : undefined;
}

/** The warning that an endpoint on loopback requires no token. */
export const OPEN =
  'no token is required: every program on this machine may call these tools. Behind a proxy or a tunnel, always set MCP_HTTP_TOKEN (http.token_env): what it forwards comes from this machine, too';

/** The warning that answers over HTTP use no own tools. */
export const noGroundedCaller = (requiresToken: boolean) =>
  `over HTTP, no caller gets the tools of grounding.tools in answers: set grounding.callers, such as [${requiresToken ? 'alice' : LOCAL_CALLER}]`;

/** What to know about the tools in answers over HTTP. */
export function groundingWarnings(policy: GroundingPolicy | undefined, requiresToken: boolean): readonly string[] {
  const isUnused = policy !== undefined && servesNoCaller(policy, requiresToken);
  return isUnused ? [`grounding: ${noGroundedCaller(requiresToken)}`] : [];
}

/** Messages of the HTTP server on standard error. */
export const SERVING = {
  at: (program: string, url: string) => `${program}: serving MCP at ${url}\n`,
  ready: (ready: number, servers: number, tools: number, url: string) =>
    `${ready} of ${count(servers, 'server')} ready, ${count(tools, 'tool')}, ${url}\n`,
  noKey: (variable: string) => `No usable API key: answers will fail until you set ${variable} (see doctor).\n`,
  gatewayOnly: (variable: string) =>
    `No API key: the answer tools are not offered. The tools of your servers work without one. To offer answers, set ${variable}.`,
  hosts:
    'Only requests with the host name localhost are accepted: set MCP_HTTP_ALLOWED_HOSTS to the host names that clients use.\n',
  draining: (maxMs: number, waiting: number) =>
    `Waiting up to ${Math.ceil(maxMs / 1000)} s for ${count(waiting, 'request')} in flight; another signal ends ${waiting === 1 ? 'it' : 'them'}.\n`,
  notListening: (host: string, port: number, code: string) =>
    `Cannot listen on ${host} port ${port} (${code}): ${LISTEN_ERRORS[code] ?? 'choose another address (--http, MCP_HTTP_LISTEN or http.listen)'}.\n`,
};

/** The cause and the fix, by the error code of the operating system. */
const LISTEN_ERRORS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program is using this port; stop it, or choose another port',
  EADDRNOTAVAIL: 'this machine does not have this address',
  ENOTFOUND: 'this host name does not exist',
  EACCES: 'this user has no permission to use this port; choose port 1024 or higher',
};

/** All problems in a configuration, one line each. */
export function messageForProblems(problems: readonly ConfigProblem[]): string {
  const lines = problems.map((problem) => `  ${messageForProblem(problem)}`);
  return `The configuration has ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}:\n${lines.join('\n')}\n`;
}

/** Logs problems that do not prevent a start as warnings. */
export function logNotices(notices: readonly ConfigProblem[], logger: Logger): void {
  for (const notice of notices) logger.warn(messageForProblem(notice));
}

/** Selects the notices that concern a command: those about servers only if it uses servers (`hasServers`), or one of them (`server`). */
export function noticesAbout(notices: readonly ConfigProblem[], hasServers: boolean, server?: string) {
  return notices.filter(({ servers }) => {
    if (servers === undefined) return true;
    return hasServers && (server === undefined || servers.length === 0 || servers.includes(server));
  });
}

/** The place of the problem, the received value, and what is wrong or expected. */
export function messageForProblem({ where, value, message, file }: ConfigProblem): string {
  const received = value === undefined ? '' : `got ${JSON.stringify(value)}, `;
  return `${where}: ${received}${message}${file === undefined || file === where ? '' : ` (in ${file})`}`;
}

/** The message about a name or pattern in `access` that matches no tool. */
export function unmatchedGrant(grant: { readonly caller: string; readonly server: string; readonly pattern: string }) {
  const { caller, server, pattern } = grant;
  return `access: no tool of ${server} matches ${pattern} (access.${caller}.servers.${server})`;
}
