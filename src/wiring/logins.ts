import type { NoLogin } from '../adapters/inbound/words/login-messages.ts';
import type { ServerEntry } from '../adapters/outbound/config/server-entry.ts';
import type { LoginServer } from '../adapters/outbound/login/discovery.ts';
import { loginPath } from '../adapters/outbound/login/login-path.ts';
import type { RenewalOutcome } from '../adapters/outbound/login/stored-tokens.ts';
import { RemoteLogin } from '../adapters/outbound/mcp-client/remote-login.ts';
import { isUnencrypted } from '../adapters/outbound/network/addresses.ts';
import { ProxyFetches } from '../adapters/outbound/network/proxy-fetches.ts';
import type { Logins } from '../application/ports/logins.ts';
import type { Runtime } from './runtime.ts';

/**
 * The login of a remote server. Undefined if its headers have credentials, or if others could read its token (ruling O3). What knows OAuth is
 * loaded when it is needed (ruling O22).
 */
export async function remoteLogin(
  server: LoginServer,
  { config, clock, logger, redactor }: Runtime,
  fetches: ProxyFetches,
  onRenewal: (server: string, outcome: RenewalOutcome) => void,
): Promise<RemoteLogin | undefined> {
  const { name, url, auth } = server;
  if (hasCredentials(server) || isUnencrypted(url)) return undefined;
  const load = async () => {
    const [{ MachineTokens, StoredTokens }, { LoginFiles }] = await Promise.all([
      import('../adapters/outbound/login/stored-tokens.ts'),
      import('../adapters/outbound/login/login-files.ts'),
    ]);
    const options = {
      server,
      network: { fetch: fetches.fetch, clock },
      learn: (own: readonly string[]) => redactor.learnLatest(url, own),
      onRenewal: (outcome: RenewalOutcome, reason?: string) => {
        const what = outcome === 'failed' ? 'not renewed' : outcome;
        logger.debug(`gateway: ${name}: the login was ${what}${reason === undefined ? '' : ` (${reason})`}`);
        onRenewal(name, outcome);
      },
    };
    return auth?.grant === 'client_credentials'
      ? new MachineTokens(options)
      : new StoredTokens(options, new LoginFiles(config.gateway.logins, clock, logger));
  };
  const path = loginPath(config.gateway.logins, url);
  return new RemoteLogin({ name, url, auth, clock, path, load, fetch: await fetches.fetchFor(url) });
}

/** Why a person cannot sign in to a server; undefined if one can (ruling O12). */
export function whyNoLogin({ connection }: ServerEntry): NoLogin | undefined {
  if (connection.kind === 'child') return 'command';
  if (hasCredentials(connection)) return 'header';
  if (isUnencrypted(connection.url)) return 'unencrypted';
  return connection.auth?.grant === 'client_credentials' ? 'machine' : undefined;
}

/** Composes the logins of persons. */
export async function composeLogins({ config, clock, logger, redactor }: Runtime): Promise<Logins> {
  const [{ OAuthLogins }, { LoginFiles }] = await Promise.all([
    import('../adapters/outbound/login/oauth-logins.ts'),
    import('../adapters/outbound/login/login-files.ts'),
  ]);
  const fetches = new ProxyFetches(process.env);
  return new OAuthLogins({
    servers: (config.servers ?? []).flatMap(({ name, connection }) =>
      connection.kind === 'remote' ? [{ ...connection, name }] : [],
    ),
    files: new LoginFiles(config.gateway.logins, clock, logger),
    network: { fetch: fetches.fetch, clock },
    learn: (own) => redactor.learn({ own }),
  });
}

function hasCredentials({ headers }: Pick<LoginServer, 'headers'>): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
}
