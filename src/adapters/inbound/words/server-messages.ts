import type { LoginSummary } from '../../../application/ports/tool-server.ts';
import { ownerName } from '../../../domain/gateway/login-owner.ts';
import { advised, type OwnCommand } from '../../../domain/gateway/own-command.ts';
import type { LeftOut } from '../../../domain/gateway/shared-entries.ts';
import { loginCommand } from '../../../domain/gateway/tool-call-error.ts';
import { cleanLine, shortLine } from '../../../domain/values/clean-text.ts';
import { count } from './plain.ts';

export const approvedMessage = (tools: number, file: string) => `Approved ${count(tools, 'tool')} in ${file}.\n`;

/** For `tools --lock`, which keeps the approved tools of a server that is not available, and for `tools --diff`. */
export const notComparedMessage = (server: string, reason = 'no reason is known') =>
  `The server ${server} is not available (${cleanLine(reason)}). Its approved tools were neither compared nor changed.\n`;

/** The message about tools of one server that `gateway.lock` withholds. */
export function notApprovedMessage(names: readonly string[], ownCommand?: OwnCommand): string {
  const tools = `${count(names.length, 'tool')} ${names.length === 1 ? 'is' : 'are'} not approved`;
  return `${tools}: ${names.map(cleanLine).join(', ')} (see: ${advised('tools --diff', ownCommand)})`;
}

const KINDS = { tools: 'tool', prompts: 'prompt', resources: 'resource', resourceTemplates: 'resource template' };
/** So many are named; the others are counted. */
const MAX_NAMED = 20;
const MAX_ENTRY_NAME = 100;

/** The message about entries of the lists of one server that are not as MCP specifies. */
export function leftOutMessage(leftOut: readonly LeftOut[]): string {
  const named = leftOut
    .slice(0, MAX_NAMED)
    .map(({ list, name, reason }) => `${KINDS[list]} ${shortLine(name || '(unnamed)', MAX_ENTRY_NAME)} (${reason})`);
  const more = leftOut.length > MAX_NAMED ? [`${leftOut.length - MAX_NAMED} more`] : [];
  return `left out, because MCP does not allow it: ${[...named, ...more].join(', ')}`;
}

/** Why a person cannot sign in to a configured server. */
export type NoLogin = keyof typeof REASONS;

const REASONS = {
  command: 'it is a program on this machine. Only a server with a url may require a login',
  header: 'its headers contain Authorization. Remove that header to sign in',
  client_credentials:
    'the gateway signs in to it without a person (auth.grant: client_credentials). Remove auth.grant to sign in',
  unencrypted: 'its http:// URL leads to another machine, so others could read the tokens. Use https://',
} as const;

/** Describes a login for people: its issuer, scopes and end. */
export function loginWords({ issuer, scopes, expiresAt, renewable }: LoginSummary): string {
  const granted = scopes.length === 0 ? 'no scopes' : `scopes ${scopes.join(' ')}`;
  const end = expiresAt === undefined ? 'no known expiry' : `until ${expiresAt.toISOString()}`;
  return cleanLine(`${issuer}, ${granted}, ${end}${renewable ? ', then renewed' : ''}`);
}

/** The path of a server's login page. */
export function loginPath(server: string): string {
  return `/login/${encodeURIComponent(server)}`;
}

/** The name of a login for people: of its server and, if it belongs to one, of its caller. */
export function loginName({ server, owner }: Pick<LoginSummary, 'server' | 'owner'>): string {
  return owner === undefined ? server : `${server} as ${cleanLine(ownerName(owner))}`;
}

/** A login, or those of a caller to all servers. */
interface Ended {
  readonly server: string | undefined;
  readonly caller: string | undefined;
}

/** The messages of `login`, `logins` and `logout`. */
export const LOGIN_MESSAGES = {
  notPossible: (server: string, why: NoLogin) =>
    `It is not possible to sign in to the server ${server}: ${REASONS[why]}.`,
  lookingFor: (server: string) => `Looking for the issuer of ${server}`,
  signInAt: (server: string, opensBrowser: boolean) =>
    `Sign in to ${server} in the browser${opensBrowser ? '. If none opens, sign in' : ','} at this URL:`,
  paste: 'If the browser cannot open 127.0.0.1 afterwards, paste that address here (input is hidden).',
  ifUnknown: (server: string, ownCommand?: OwnCommand) =>
    `If its page says that the client is unknown, run first: ${advised(`logout ${server}`, ownCommand)}`,
  ignored: (why: string) => `Not used: ${why}.`,
  failed: (server: string, reason: string) =>
    `Signing in to ${server} failed: ${reason}. Nothing was changed; you can run the command again.`,
  /** After the name of the server, which asks this. */
  signInAs: (server: string, caller: string) => `Sign in to ${server} as ${cleanLine(caller)}.`,
  none: (ownCommand?: OwnCommand) => `There are no logins. Sign in with: ${loginCommand('<server>', ownCommand)}`,
  notDeleted: (server: string, reason: string) =>
    `The login to ${server} was not deleted: ${reason}. Delete its file in gateway.logins.`,
  notRevoked: (server: string, reason: string) =>
    `Not every token for ${server} was revoked: ${reason}. Revoke the access at the issuer if it must end now.`,
  ended: ({ server, caller }: Ended, existed: boolean) => {
    const which = [caller && `of ${cleanLine(caller)}`, server && `to ${server}`].filter(Boolean).join(' ');
    return existed ? `The login ${which} was deleted.` : `There is no login ${which}.`;
  },
};

/** Whether a tool changes something, as it declares. */
export const EFFECTS = { none: 'It declares that it only reads.', possible: 'It may change something.' };

/** The messages of `call --url`, about the gateway that runs already. */
export const RUNNING = {
  notReached: (url: string, reason: string) =>
    `No gateway answers at ${url} (${reason}). Start one with --http, or check the URL.`,
  other: (url: string, status: number) =>
    `${url} is not a gateway of this program (HTTP ${status}, without its JSON). Check the URL.`,
  token: (variable: string) => `Set the variable ${variable} to your token, or name another one with --token-env.`,
  noToken: (variable: string) => `The variable ${variable} (--token-env) is not set.`,
  cancelled: 'The call was cancelled.',
};

/** The servers whose start a person waits for. */
export function startingWords(servers: readonly { readonly name: string; readonly state: string }[]): string {
  const names = servers.filter(({ state }) => state === 'starting').map(({ name }) => cleanLine(name));
  return names.length === 0 ? 'Starting the servers' : `Starting ${names.join(', ')}`;
}
