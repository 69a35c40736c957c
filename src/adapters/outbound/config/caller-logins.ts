import { LOCAL_CALLER } from '../../../domain/gateway/call-origin.ts';
import type { HttpConfig } from './http-config.ts';
import type { Report } from './problems.ts';
import type { ServerEntry } from './server-entry.ts';

const LOCAL_TOKEN =
  'with login: per_caller, local is the user of this machine; give the caller with this token another name';

/** Reports what is missing over HTTP for the servers at which each caller signs in. */
export function checkCallerLogins(
  servers: readonly Pick<ServerEntry, 'name' | 'login'>[] | undefined,
  { requiresToken, tokens, oauth, publicUrl }: HttpConfig,
  report: Report,
): void {
  const [server] = (servers ?? []).filter(({ login }) => login === 'per_caller');
  if (server === undefined) return;
  const because = `required, because the server ${server.name} has login: per_caller`;
  if (!requiresToken)
    report(
      'http.token_env',
      `${because}: callers without tokens (http.token_env, http.token_file) or http.oauth are not known`,
    );
  // The caller would otherwise use the logins of the terminal.
  if (tokens.some(({ caller }) => caller === LOCAL_CALLER)) report('http.token_env', LOCAL_TOKEN, LOCAL_CALLER);
  if (oauth !== undefined && oauth.clientId === undefined)
    report('http.oauth.client_id', `${because}: the client with which the browsers of callers sign in at the issuer`);
  if (publicUrl === undefined)
    report('http.public_url', `${because}: the origin under which the browsers of callers reach this endpoint`);
}
