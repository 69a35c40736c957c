import { never } from '../../../application/async/deadline.ts';
import type { Clock } from '../../../application/ports/clock.ts';
import { type Discovered, discover, isSameIssuer, type LoginServer } from './discovery.ts';
import { type Login, type LoginFiles, secretsOf } from './login-files.ts';
import {
  LoginFailure,
  type OAuthClient,
  type OAuthNetwork,
  RENEWAL_MS,
  requestTokens,
  type Tokens,
} from './oauth-request.ts';

/** What became of a renewal, for metrics (ruling O23). */
export type RenewalOutcome = 'renewed' | 'refused' | 'failed';

export interface TokensOptions {
  readonly server: LoginServer;
  readonly network: OAuthNetwork;
  readonly clock: Clock;
  /** Masks secrets from now on. */
  readonly learn: (secrets: readonly string[]) => void;
  /** With the reason, if it was not renewed. */
  readonly onRenewal: (outcome: RenewalOutcome, reason?: string) => void;
}

const EARLY_MS = 60_000;
/** After a renewal failed, a token that is still valid is used for so long before the next one. */
const PAUSE_MS = 5000;

/** Whether a token should be renewed: in its last minute, or in the second half of a short life. */
function isDue(receivedAt: number, expiresAt: number | undefined, nowMs: number): boolean {
  if (expiresAt === undefined) return false;
  return nowMs > expiresAt - Math.min(EARLY_MS, (expiresAt - receivedAt) / 2);
}

/** The login of a person, which every process renews, one at a time (rulings O17 to O19). */
export class StoredTokens {
  /** Why the issuer has refused to renew the login. */
  refusal: string | undefined;
  readonly #options: TokensOptions;
  readonly #files: LoginFiles;
  #login: Login | undefined;
  #renewing: Promise<string | undefined> | undefined;
  #notBeforeMs = Number.NEGATIVE_INFINITY;

  constructor(options: TokensOptions, files: LoginFiles) {
    this.#options = options;
    this.#files = files;
  }

  /** The login, as it is on disk now. */
  async read(): Promise<Login | undefined> {
    const { server, learn } = this.#options;
    const login = await this.#files.read(server.url);
    if (login !== undefined) learn(secretsOf(login));
    this.#login = login !== undefined && isFor(login, server) ? login : undefined;
    return this.#login;
  }

  /** See `LoadedLogin` of the MCP client. Rejects with a `LoginFailure`. */
  async token(refused?: string): Promise<string | undefined> {
    const login = this.#login ?? (await this.read());
    if (login === undefined) return undefined;
    const nowMs = this.#nowMs();
    const isRefused = login.accessToken === refused;
    const isEarly = this.#options.clock.elapsedMs() < this.#notBeforeMs && isValid(login, nowMs);
    if (!isRefused && (isEarly || !isDue(login.receivedAt, login.expiresAt, nowMs))) return login.accessToken;
    this.#renewing ??= this.#renewed(login, isRefused).finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  /** Presents the refresh token once, over all processes: the process that has the lock reads the login again (ruling O18). */
  async #renewed(known: Login, isRefused: boolean): Promise<string | undefined> {
    const { server, learn } = this.#options;
    if (known.refreshToken === undefined) return this.#leftOf(await this.read(), known, isRefused);
    try {
      return await this.#files.locked(server.url, async (save) => {
        const login = await this.read();
        if (login === undefined || login.accessToken !== known.accessToken || login.refreshToken === undefined)
          return this.#leftOf(login, known, isRefused);
        const outcome = await this.#renew(login, login.refreshToken);
        if (outcome instanceof LoginFailure) {
          this.#options.onRenewal(outcome.refusal === undefined ? 'failed' : 'refused', outcome.message);
          this.refusal = outcome.refusal === undefined ? undefined : outcome.message;
          if (outcome.refusal === undefined) throw outcome;
          if (outcome.refusal !== 'invalid_grant') return undefined;
          const { refreshToken: _, ...rest } = login;
          await save(rest, login);
          return this.#leftOf(await this.read(), known, isRefused);
        }
        const renewed = renewedLogin(login, outcome, this.#nowMs());
        learn(secretsOf(renewed));
        await save(renewed, login);
        this.#options.onRenewal('renewed');
        return (await this.read())?.accessToken;
      });
    } catch (error) {
      // The folder cannot be written, or the issuer does not answer: the token is used while it is valid.
      this.#notBeforeMs = this.#options.clock.elapsedMs() + PAUSE_MS;
      if (!isRefused && isValid(known, this.#nowMs())) return known.accessToken;
      throw error instanceof LoginFailure ? error : new LoginFailure(`the login cannot be renewed (${codeOf(error)})`);
    }
  }

  async #renew(login: Login, refreshToken: string): Promise<Tokens | LoginFailure> {
    const { server, network } = this.#options;
    const parameters = toParameters(login.resource, login.scopes);
    const grant = { grant_type: 'refresh_token', refresh_token: refreshToken, ...parameters };
    const client = withSecret(login.client, server);
    return requestTokens(login.metadata, client, grant, network, never(), RENEWAL_MS).catch(toFailure);
  }

  /** The token of a login that is not renewed: a newer one, or one that is valid and was not refused. */
  #leftOf(login: Login | undefined, known: Login, isRefused: boolean): string | undefined {
    if (login === undefined) return undefined;
    const isNewer = login.accessToken !== known.accessToken;
    return (isNewer || !isRefused) && isValid(login, this.#nowMs()) ? login.accessToken : undefined;
  }

  #nowMs(): number {
    return this.#options.clock.now().getTime();
  }
}

/** The tokens of a machine, in memory only (ruling O20). */
export class MachineTokens {
  readonly #options: TokensOptions;
  #known: Pick<Login, 'accessToken' | 'receivedAt' | 'expiresAt'> | undefined;
  #discovered: Discovered | undefined;
  #fetching: Promise<string> | undefined;

  constructor(options: TokensOptions) {
    this.#options = options;
  }

  /** It needs no login. */
  async read(): Promise<undefined> {}

  async token(refused?: string): Promise<string> {
    const known = this.#known;
    const nowMs = this.#options.clock.now().getTime();
    const isUsable = known !== undefined && known.accessToken !== refused;
    if (isUsable && !isDue(known.receivedAt, known.expiresAt, nowMs)) return known.accessToken;
    this.#fetching ??= this.#fetch().finally(() => {
      this.#fetching = undefined;
    });
    if (!isUsable || !isValid(known, nowMs)) return this.#fetching;
    return this.#fetching.catch(() => known.accessToken);
  }

  async #fetch(): Promise<string> {
    const { server, network, clock, learn, onRenewal } = this.#options;
    const report = (outcome: RenewalOutcome) => this.#known !== undefined && onRenewal(outcome);
    try {
      this.#discovered ??= await discover(server, network, never());
      const { metadata, resource, scopes } = this.#discovered;
      const client = withSecret({ client_id: server.auth?.clientId ?? '' }, server);
      const grant = { grant_type: 'client_credentials', ...toParameters(resource, scopes) };
      const { accessToken, lifetimeMs } = await requestTokens(metadata, client, grant, network, never());
      learn([accessToken]);
      report('renewed');
      const receivedAt = clock.now().getTime();
      this.#known = { accessToken, receivedAt, expiresAt: lifetimeMs && receivedAt + lifetimeMs };
      return accessToken;
    } catch (error) {
      report(toFailure(error).refusal === undefined ? 'failed' : 'refused');
      throw error;
    }
  }
}

/** Sent with every request for tokens, as they were granted. */
export function toParameters(
  resource: string | undefined,
  scopes: readonly string[],
): Readonly<Record<string, string>> {
  return { ...(resource !== undefined && { resource }), ...(scopes.length > 0 && { scope: scopes.join(' ') }) };
}

/** A configured secret is not stored. */
export function withSecret(client: OAuthClient, { auth }: LoginServer): OAuthClient {
  const isConfigured = auth?.clientSecret !== undefined && auth.clientId === client.client_id;
  return isConfigured ? { ...client, client_secret: auth.clientSecret } : client;
}

function renewedLogin(login: Login, tokens: Tokens, nowMs: number): Login {
  const { accessToken, refreshToken = login.refreshToken, lifetimeMs, scopes = login.scopes } = tokens;
  const expiresAt = lifetimeMs === undefined ? undefined : nowMs + lifetimeMs;
  return { ...login, accessToken, refreshToken, scopes, receivedAt: nowMs, expiresAt };
}

function isValid({ expiresAt = Number.POSITIVE_INFINITY }: Pick<Login, 'expiresAt'>, nowMs: number): boolean {
  return nowMs < expiresAt;
}

/** Another issuer or client may be configured since a person signed in. */
export function isFor({ metadata, client }: Login, { auth }: LoginServer): boolean {
  const isIssuer = auth?.issuer === undefined || isSameIssuer(metadata.issuer, auth.issuer);
  return isIssuer && (auth?.clientId ?? client.client_id) === client.client_id;
}

function toFailure(error: unknown): LoginFailure {
  if (error instanceof LoginFailure) return error;
  throw error;
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}
