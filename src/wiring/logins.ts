import type { NoLogin } from '../adapters/inbound/words/server-messages.ts';
import type { ServerEntry } from '../adapters/outbound/config/server-entry.ts';
import { openBrowser } from '../adapters/outbound/login/browser.ts';
import { credentialsOf, kindOf, type LoginServer } from '../adapters/outbound/login/login.ts';
import { LoginFiles } from '../adapters/outbound/login/login-files.ts';
import { LoginTokens, type RenewalOutcome } from '../adapters/outbound/login/login-tokens.ts';
import { OAuthLogins } from '../adapters/outbound/login/oauth-logins.ts';
import { RemoteLogin } from '../adapters/outbound/mcp-client/remote-login.ts';
import { createProxyFetch } from '../adapters/outbound/network/proxy-fetch.ts';
import type { Logins } from '../application/ports/tool-server.ts';
import { loginCommand } from '../domain/gateway/tool-call-error.ts';
import { commandForClients, type Runtime } from './runtime.ts';

/** The login of a remote server. Undefined if its headers have credentials, or if others could read its token. */
export function remoteLogin(
  server: LoginServer,
  runtime: Runtime,
  fetch: typeof globalThis.fetch,
  onRenewal: (server: string, outcome: RenewalOutcome) => void,
): RemoteLogin | undefined {
  const { config, clock, logger, redactor } = runtime;
  const { name, url, auth } = server;
  const credentials = credentialsOf(server);
  if (credentials === 'header' || credentials === 'unencrypted') return undefined;
  const options = {
    server,
    files: new LoginFiles(config.gateway.logins, clock, logger),
    network: { fetch, clock },
    learn: (own: readonly string[]) => redactor.learnLatest(url, own),
    onRenewal: (outcome: RenewalOutcome, reason?: string) => {
      const why = reason === undefined ? '' : ` (${reason})`;
      const kept =
        outcome === 'renewed' && reason !== undefined ? '; it could not be written, and is kept in memory' : '';
      const text = `gateway: ${name}: the login was ${outcome === 'failed' ? 'not renewed' : outcome}${kept}${why}`;
      if (kept !== '' || outcome === 'refused') logger.warn(text);
      else logger.debug(text);
      onRenewal(name, outcome);
    },
  };
  const command = kindOf(auth) === 'person' ? loginCommand(name, commandForClients(runtime)) : undefined;
  return new RemoteLogin({ name, command, url, auth, clock, tokens: new LoginTokens(options), fetch });
}

/** Why a person cannot sign in to a server; undefined if one can. */
export function whyNoLogin({ connection }: ServerEntry): NoLogin | undefined {
  if (connection.kind === 'child') return 'command';
  const credentials = credentialsOf(connection);
  return credentials === 'authorization_code' ? undefined : credentials;
}

/** Opens a URL in the browser of this machine. */
export function browserOf({ config }: Runtime): (url: string) => void {
  return (url) => openBrowser(url, process.env, config.secretVariables);
}

/** Composes the logins of people. */
export function composeLogins({ config, clock, redactor, logger }: Runtime): Logins {
  const { fetch } = createProxyFetch(process.env);
  return new OAuthLogins({
    servers: (config.servers ?? []).flatMap(({ name, connection }) =>
      connection.kind === 'remote' ? [{ ...connection, name }] : [],
    ),
    files: new LoginFiles(config.gateway.logins, clock, logger),
    network: { fetch, clock },
    learn: (own) => redactor.learn({ own }),
  });
}
