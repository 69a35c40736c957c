import type { LoginSummary } from '../../../application/ports/logins.ts';
import { cleanLine } from '../../../domain/values/clean-text.ts';

/** Why nobody signs in to a configured server (ruling O12). */
export type NoLogin = keyof typeof REASONS;

const REASONS = {
  command: 'it is a program on this machine. Only a server with a url may require a login',
  header: 'its headers have an Authorization. Remove that header to sign in',
  machine: 'it needs no person (auth.grant: client_credentials). Remove auth.grant to sign in',
  unencrypted: 'its http:// URL is of another machine, so that others could read the tokens. Use https://',
} as const;

export function noLoginMessage(server: string, why: NoLogin): string {
  return `Nobody can sign in to the server ${server}: ${REASONS[why]}.`;
}

/** A login for people: its issuer, scopes and end. */
export function loginWords({ issuer, scopes, expiresAt, renewable }: LoginSummary): string {
  const granted = scopes.length === 0 ? 'no scopes' : `scopes ${scopes.join(' ')}`;
  const end = expiresAt === undefined ? 'without a known end' : `until ${expiresAt.toISOString()}`;
  return cleanLine(`${issuer}, ${granted}, ${end}${renewable ? ', then renewed' : ''}`);
}
