import type { NoLogin } from '../adapters/inbound/words/server-messages.ts';
import type { ServerEntry } from '../adapters/outbound/config/server-entry.ts';
import { openBrowser } from '../adapters/outbound/login/browser.ts';
import { credentialsOf, kindOf, type LoginServer } from '../adapters/outbound/login/login.ts';
import { LoginFiles } from '../adapters/outbound/login/login-files.ts';
import { LoginTokens, type RenewalOutcome } from '../adapters/outbound/login/login-tokens.ts';
import { type LoginEvent, OAuthCallerLogins } from '../adapters/outbound/login/oauth-caller-logins.ts';
import { LoginFailure } from '../adapters/outbound/login/oauth-fetch.ts';
import { OAuthLogins } from '../adapters/outbound/login/oauth-logins.ts';
import { PendingFiles } from '../adapters/outbound/login/pending-files.ts';
import { RemoteLogin } from '../adapters/outbound/mcp-client/remote-login.ts';
import { createProxyFetch } from '../adapters/outbound/network/proxy-fetch.ts';
import type { CallerLogins } from '../application/ports/caller-logins.ts';
import type { Logins } from '../application/ports/tool-server.ts';
import { idOfUse, LOCAL_OWNER, type LoginUse } from '../domain/gateway/login-owner.ts';
import type { OwnCommand } from '../domain/gateway/own-command.ts';
import { loginCommand } from '../domain/gateway/tool-call-error.ts';
import { loginUrlOf } from './described-servers.ts';
import { commandForClients, type Runtime } from './runtime.ts';
import { completeEntry } from './server-values.ts';

/** The files of logins. */
export function loginFiles({ config, clock, logger, loginsKey: key }: Runtime): LoginFiles {
  return new LoginFiles(config.gateway.logins, clock, { logger, key });
}

/** What happens outside of a login: `publicUrl` returns the origin under which browsers reach this program. */
export interface RemoteOptions {
  readonly onRenewal?: ((server: string, outcome: RenewalOutcome) => void) | undefined;
  readonly publicUrl?: (() => string | undefined) | undefined;
}

/** The login of a remote server. Undefined if its headers have credentials, or if others could read its token. */
export function remoteLogin(
  { use, ...server }: LoginServer & { readonly use: LoginUse },
  runtime: Runtime,
  fetch: typeof globalThis.fetch,
  { onRenewal, publicUrl }: RemoteOptions,
): RemoteLogin | undefined {
  const { clock, logger, redactor } = runtime;
  const { name, url, auth } = server;
  const credentials = credentialsOf(server);
  if (credentials === 'header' || credentials === 'unencrypted') return undefined;
  const options = {
    server,
    use,
    files: loginFiles(runtime),
    network: { fetch, clock },
    learn: (own: readonly string[]) => redactor.learnLatest(JSON.stringify([url, idOfUse(use)]), own),
    onRenewal: (outcome: RenewalOutcome, reason?: string) => {
      const why = reason === undefined ? '' : ` (${reason})`;
      const kept =
        outcome === 'renewed' && reason !== undefined ? '; it could not be written, and is kept in memory' : '';
      const text = `gateway: ${name}: the login was ${outcome === 'failed' ? 'not renewed' : outcome}${kept}${why}`;
      if (kept !== '' || outcome === 'refused') logger.warn(text);
      else logger.debug(text);
      onRenewal?.(name, outcome);
    },
  };
  const isOfCaller = use !== 'shared';
  const signIn = kindOf(auth) === 'person' ? signInTo(name, use, commandForClients(runtime), publicUrl?.()) : undefined;
  return new RemoteLogin({
    name,
    signIn,
    isAlwaysRequired: isOfCaller,
    url,
    auth,
    clock,
    tokens: new LoginTokens(options),
    fetch,
  });
}

/** How a person signs in to a server: a caller at the pages of this program, everyone else by a command. */
function signInTo(server: string, use: LoginUse, ownCommand?: OwnCommand, publicUrl?: string): string {
  const url = use === 'shared' || use.kind === 'local' ? undefined : loginUrlOf(server, publicUrl);
  return url === undefined ? `with: ${loginCommand(server, ownCommand)}` : `at ${url}`;
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
export function composeLogins(runtime: Runtime): Logins {
  const { config, clock, redactor } = runtime;
  const { fetch } = createProxyFetch(process.env);
  const isPerCaller = (server: string) => config.servers?.find(({ name }) => name === server)?.login === 'per_caller';
  return new OAuthLogins({
    servers: (config.servers ?? []).flatMap(({ name, connection }) =>
      connection.kind === 'remote' ? [{ ...connection, name }] : [],
    ),
    useOf: (server) => (isPerCaller(server) ? LOCAL_OWNER : 'shared'),
    files: loginFiles(runtime),
    network: { fetch, clock },
    learn: (own) => redactor.learn({ own }),
  });
}

/**
 * Composes the logins of callers. `servers` returns the servers of the configuration as they are now; `onEvent` is called when a login was made, was
 * not made, or has ended.
 */
export function composeCallerLogins(
  runtime: Runtime,
  {
    servers,
    onEvent,
  }: { readonly servers: () => readonly ServerEntry[]; readonly onEvent: (event: LoginEvent) => void },
): CallerLogins {
  const { config, clock, redactor, values, loginsKey } = runtime;
  const { fetch } = createProxyFetch(process.env);
  const perCaller = () => servers().filter(({ login }) => login === 'per_caller');
  return new OAuthCallerLogins({
    servers: () => perCaller().map(({ name }) => name),
    serverOf: async (server, signal) => {
      const entry = perCaller().find(({ name }) => name === server);
      const completed = entry && (await completeEntry(entry, values, 'kept', signal));
      if (completed?.isErr()) throw new LoginFailure(completed.error);
      const { connection } = completed?.isOk() ? completed.value.entry : {};
      if (connection?.kind !== 'remote') throw new LoginFailure(`the server ${server} is no longer configured`);
      return { ...connection, name: server };
    },
    files: loginFiles(runtime),
    pending: new PendingFiles(config.gateway.logins, clock, loginsKey, 'login'),
    network: { fetch, clock },
    learn: learnPassing(redactor),
    onEvent,
  });
}

/** The number of sign-ins whose secrets are masked at least. Strangers can begin any number, and each masked secret takes time in every log line. */
const MASKED_SIGN_INS = 100;

/** Masks the secrets of the latest sign-ins. Those of a login are masked as long as it is used. */
export function learnPassing({ learnLatest }: Runtime['redactor']): (secrets: readonly string[]) => void {
  let count = 0;
  return (own) => {
    count += 1;
    learnLatest(`sign-in ${count % MASKED_SIGN_INS}`, own);
  };
}
