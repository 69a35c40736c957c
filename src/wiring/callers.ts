import type { CheckedOAuth, CheckedQuota } from '../adapters/inbound/cli/team-checks.ts';
import type { Metrics, ReloadedPart } from '../adapters/inbound/http/metrics.ts';
import { type HttpConfig, listOfProblems, readTokenFile } from '../adapters/outbound/config/http-config.ts';
import type { OAuthConfig } from '../adapters/outbound/config/oauth-config.ts';
import type { QuotaConfig } from '../adapters/outbound/config/sections.ts';
import { shownStore } from '../adapters/outbound/config/shown-config.ts';
import { createProxyFetch } from '../adapters/outbound/network/proxy-fetch.ts';
import { IssuerKeys, readKeySet, TIME_LIMIT_MS } from '../adapters/outbound/oauth/issuer-keys.ts';
import { JwtTokenVerifier } from '../adapters/outbound/oauth/jwt-token-verifier.ts';
import { MemoryQuotaStore } from '../adapters/outbound/quota/memory-quota-store.ts';
import { withDeadline } from '../application/async/deadline.ts';
import { repeatUntil } from '../application/async/waits.ts';
import type { LoadedServers } from '../application/gateway/loaded-servers.ts';
import type { TokenVerifier } from '../application/ports/callers.ts';
import type { Clock } from '../application/ports/services.ts';
import { QuotaGuard } from '../application/quota/quota-guard.ts';
import { idOfUse, ownerName } from '../domain/gateway/login-owner.ts';
import type * as LoginPages from './login-pages.ts';
import type { Runtime } from './runtime.ts';
import type { Reloaded } from './servers-reload.ts';

/** Returns what counts whether a part of the configuration was read again. */
export type OnReload = (part: ReloadedPart) => (isSuccessful: boolean) => void;

interface Composed {
  readonly http: HttpConfig;
  readonly servers: Pick<LoadedServers<never>, 'gateway'>;
  readonly metrics: Pick<Metrics, 'onLoginFailure'>;
  readonly onReload: OnReload;
}

/** Composes who calls: their tokens, limits, and logins to the servers of the configuration, which a reload replaces (`applied`). */
export async function composeCallers(runtime: Runtime, { http, servers, metrics, onReload }: Composed) {
  const { config, audit } = runtime;
  const applied: { current: Reloaded } = { current: config };
  const oauth = http.oauth && { ...http.oauth, ...composeTokenVerifier(http.oauth, runtime) };
  const logins = await composeLogins(http, {
    runtime,
    servers: () => applied.current.servers ?? [],
    keys: oauth?.keys,
    onEvent: ({ event, outcome, owner, server, scopes }) => {
      if (event === 'login' && outcome === 'failed') metrics.onLoginFailure(server);
      // What was deleted or replaced is not used any longer. Other processes over the folder notice it within a second.
      if (outcome === 'done') servers.gateway?.named(server)?.endCallers((one) => idOfUse(one) !== idOfUse(owner));
      void audit?.note({ event, outcome, caller: ownerName(owner), server, scopes });
    },
  });
  const quota = config.quota && (await composeQuota(runtime, config.quota));
  const tokens = composeTokens(http, runtime, onReload('token_file'), (callers) =>
    servers.gateway?.endCallers((owner) => owner.kind !== 'token' || callers.has(owner.name)),
  );
  return { tokens, oauth, quota, logins, applied };
}

/** The logins of callers. Undefined if browsers cannot reach the endpoint, or callers have no tokens. */
async function composeLogins({ publicUrl, requiresToken, oauth }: HttpConfig, composed: ComposedLogins) {
  if (publicUrl === undefined || !requiresToken) return undefined;
  const { composeLoginPages } = await import('./login-pages.ts');
  return composeLoginPages({ ...composed, publicUrl, oauth });
}

type ComposedLogins = Omit<Parameters<typeof LoginPages.composeLoginPages>[0], 'publicUrl' | 'oauth'>;

/**
 * The tokens of callers: those of variables, and those of `http.token_file` as it was when it could last be used. `onCallers` gets the callers after a
 * change.
 */
function composeTokens(
  { tokens, tokenFile }: HttpConfig,
  { logger, stderr }: Pick<Runtime, 'logger' | 'stderr'>,
  onReload: (isSuccessful: boolean) => void,
  onCallers: (callers: ReadonlySet<string>) => void = () => {},
) {
  let current = tokenFile !== undefined && 'tokens' in tokenFile ? [...tokens, ...tokenFile.tokens] : tokens;
  let content = tokenFile?.content;
  return {
    current: () => current,
    /** Reads the file again, if there is one. A file with a problem changes nothing. */
    reload: () => {
      if (tokenFile === undefined) return;
      const { path } = tokenFile;
      const read = readTokenFile(path, tokens);
      // A signal and the watch may report the same change.
      if (read.content === content) return;
      content = read.content;
      onReload('tokens' in read);
      if ('problems' in read) {
        logger.warn(`http.token_file: the tokens stay as they were: ${listOfProblems(read.problems)} (in ${path})`);
        return;
      }
      current = [...tokens, ...read.tokens];
      const callers = new Set(current.map(({ caller }) => caller));
      onCallers(callers);
      stderr.say(
        'info',
        `http.token_file: the tokens were read again; callers: ${callers.size}, tokens: ${current.length}`,
      );
    },
  };
}

/** Composes the verifier of access tokens, and the keys of their issuer. */
function composeTokenVerifier(
  oauth: OAuthConfig,
  { clock, logger, atClose }: Pick<Runtime, 'clock' | 'logger' | 'atClose'>,
): { readonly verifier: TokenVerifier; readonly keys: IssuerKeys } {
  const keys = new IssuerKeys({ issuer: oauth.issuer, clock, logger, read: keyReader(oauth) });
  const closed = new AbortController();
  atClose(async () => closed.abort());
  // A wrong configuration is reported at the start, and the first caller need not wait. Without the keys, no caller would be sent here (`/readyz`).
  const read = async () => {
    await keys.prepare();
    return keys.areRead;
  };
  void repeatUntil(read, clock, closed.signal);
  return { verifier: new JwtTokenVerifier({ ...oauth, keys, clock }), keys };
}

export function checkedOAuth(oauth: OAuthConfig, { clock }: Runtime): CheckedOAuth {
  const countKeys = async (signal: AbortSignal) => {
    const { outcome } = await withDeadline(clock, TIME_LIMIT_MS, signal, keyReader(oauth));
    return outcome.map(({ keys }) => keys.length);
  };
  return { ...oauth, countKeys };
}

function keyReader(oauth: OAuthConfig) {
  const { fetch } = createProxyFetch(process.env);
  return (signal: AbortSignal) => readKeySet({ ...oauth, fetch }, signal);
}

/** Composes the limits of callers per day. Their store ends with the runtime. */
async function composeQuota({ clock, logger, config: { timeZone }, atClose }: Runtime, quota: QuotaConfig) {
  const store = await openQuotaStore(quota, clock);
  const closed = new AbortController();
  atClose(() => {
    closed.abort();
    return store.close();
  });
  const guard = new QuotaGuard({ ...quota, policy: quota, store, timeZone, clock, logger });
  // Until it was reached, no caller is sent here (`/readyz`).
  void repeatUntil(() => guard.reach(), clock, closed.signal);
  return guard;
}

/** Checks the store with an entry that expires at once. */
export function checkedQuota(quota: QuotaConfig, { clock }: Runtime): CheckedQuota {
  const probe = async () => {
    const store = await openQuotaStore(quota, clock);
    const outcome = await store.admit({ caller: 'doctor', date: 'never', keepMs: 0 }, {});
    await store.close();
    return outcome.isErr() ? outcome.error : undefined;
  };
  return { ...quota, store: shownStore(quota.store), probe };
}

/** Opens the store without waiting for a connection. The client of Redis is loaded only if a store is configured. */
async function openQuotaStore({ store: url }: QuotaConfig, clock: Clock) {
  if (url === 'memory') return new MemoryQuotaStore();
  const { RedisQuotaStore } = await import('../adapters/outbound/quota/redis-quota-store.ts');
  return new RedisQuotaStore({ url, clock });
}
