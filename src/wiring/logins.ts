import type { LoginServer } from '../adapters/outbound/login/discovery.ts';
import { loginPath } from '../adapters/outbound/login/login-path.ts';
import type { RenewalOutcome } from '../adapters/outbound/login/stored-tokens.ts';
import { RemoteLogin } from '../adapters/outbound/mcp-client/remote-login.ts';
import { isUnencrypted } from '../adapters/outbound/network/addresses.ts';
import type { Runtime } from './runtime.ts';

interface LoginParts {
  /** Through the configured proxy. */
  readonly fetchFor: (url: string) => Promise<typeof fetch>;
  readonly onRenewal: (server: string, outcome: RenewalOutcome) => void;
}

/**
 * The login of a remote server. Undefined if its headers have credentials, or if others could read its token (ruling O3). What knows OAuth is
 * loaded when it is needed (ruling O22).
 */
export async function remoteLogin(
  server: LoginServer,
  { config, clock, logger, redactor }: Runtime,
  { fetchFor, onRenewal }: LoginParts,
): Promise<RemoteLogin | undefined> {
  const { name, url, headers, auth } = server;
  const hasCredentials = Object.keys(headers).some((header) => header.toLowerCase() === 'authorization');
  if (hasCredentials || isUnencrypted(url)) return undefined;
  const load = async () => {
    const [{ MachineTokens, StoredTokens }, { LoginFiles }] = await Promise.all([
      import('../adapters/outbound/login/stored-tokens.ts'),
      import('../adapters/outbound/login/login-files.ts'),
    ]);
    const options = {
      server,
      clock,
      network: { fetchFor, clock },
      learn: (own: readonly string[]) => redactor.learn({ own }),
      onRenewal: (outcome: RenewalOutcome) => {
        logger.debug(`gateway: ${name}: the login was ${outcome === 'failed' ? 'not renewed' : outcome}`);
        onRenewal(name, outcome);
      },
    };
    return auth?.grant === 'client_credentials'
      ? new MachineTokens(options)
      : new StoredTokens(options, new LoginFiles(config.gateway.logins, clock, logger));
  };
  const path = loginPath(config.gateway.logins, url);
  return new RemoteLogin({ name, url, auth, clock, path, load, fetch: await fetchFor(url) });
}
