import { never } from '../../../application/async/deadline.ts';
import type { Clock } from '../../../application/ports/clock.ts';
import type { LoginSummary } from '../../../application/ports/logins.ts';
import { type Discovered, discover, isSameIssuer, type LoginServer } from './discovery.ts';
import type { Login, LoginFiles, SaveLogin } from './login-files.ts';
import { LoginFailure, type OAuthNetwork, requestTokens, secretsOf, type Tokens } from './oauth-request.ts';

/** What became of a renewal, for metrics (ruling O23). */
export type RenewalOutcome = 'renewed' | 'refused' | 'failed';

export interface TokensOptions {
  readonly server: LoginServer;
  readonly network: OAuthNetwork;
  /** Masks secrets from now on. */
  readonly learn: (secrets: readonly string[]) => void;
  /** With the reason, if it was not renewed. */
  readonly onRenewal: (outcome: RenewalOutcome, reason?: string) => void;
}

const RENEWAL_MS = 8000;
const EARLY_MS = 60_000;
/** After a renewal failed, a token that is still valid is used for so long before the next one. */
const PAUSE_MS = 5000;

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
    if (login?.id !== this.#login?.id) this.refusal = undefined;
    this.#login = login !== undefined && isFor(login, server) ? login : undefined;
    return this.#login;
  }

  /** See `LoadedLogin` of the MCP client. Rejects with a `LoginFailure`. */
  async token(refused?: string): Promise<string | undefined> {
    const { clock } = this.#options.network;
    const login = this.#login ?? (await this.read());
    if (login === undefined) return undefined;
    const usable = usableToken(login, refused, clock);
    const isPaused = clock.elapsedMs() < this.#notBeforeMs;
    if (usable !== undefined && (isPaused || !isDue(login, clock))) return usable;
    this.#renewing ??= this.#renewed(login, refused).finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  /** The token after a renewal, which waits for those of other processes (ruling O18). */
  async #renewed(known: Login, refused: string | undefined): Promise<string | undefined> {
    const { server, network } = this.#options;
    const { clock } = network;
    if (known.refreshToken === undefined) return usableToken(await this.read(), refused, clock);
    try {
      return await this.#files.locked(server.url, async (save) => {
        const login = await this.read();
        const isRenewed = login?.accessToken !== known.accessToken;
        if (isRenewed || login.refreshToken === undefined) return usableToken(login, refused, clock);
        return this.#renew(login, refused, save);
      });
    } catch (error) {
      // The folder cannot be written, or the issuer does not answer: the token is used while it is valid.
      this.#notBeforeMs = clock.elapsedMs() + PAUSE_MS;
      const usable = usableToken(known, refused, clock);
      if (usable !== undefined) return usable;
      const { code = String(error) } = error as NodeJS.ErrnoException;
      throw error instanceof LoginFailure ? error : new LoginFailure(`the login cannot be renewed (${code})`);
    }
  }

  /** Presents the refresh token, which no other process does meanwhile. */
  async #renew(login: Login, refused: string | undefined, save: SaveLogin): Promise<string | undefined> {
    const { server, network, learn, onRenewal } = this.#options;
    const grant = { grant_type: 'refresh_token', refresh_token: login.refreshToken ?? '', ...toParameters(login) };
    const limited = { ...network, limitMs: RENEWAL_MS };
    try {
      const tokens = await requestTokens(withSecret(login, server), grant, limited, never());
      const renewed = { ...login, ...tokens };
      learn(secretsOf(renewed));
      await save(renewed, login);
      onRenewal('renewed');
      return (await this.read())?.accessToken;
    } catch (error) {
      if (!(error instanceof LoginFailure)) throw error;
      const { refusal, message } = error;
      this.refusal = refusal === undefined ? undefined : message;
      onRenewal(refusal === undefined ? 'failed' : 'refused', message);
      if (refusal === undefined) throw error;
      if (refusal !== 'invalid_grant') return undefined;
      await save({ ...login, refreshToken: undefined }, login);
      return usableToken(await this.read(), refused, network.clock);
    }
  }
}

/** The tokens of a machine, in memory only (ruling O20). */
export class MachineTokens {
  readonly #options: TokensOptions;
  #discovered: Discovered | undefined;
  #tokens: Tokens | undefined;
  #fetching: Promise<string> | undefined;

  constructor(options: TokensOptions) {
    this.#options = options;
  }

  /** It needs no login. */
  async read(): Promise<undefined> {}

  /** What it got last; undefined before the first token. */
  get summary(): LoginSummary | undefined {
    const { name, url } = this.#options.server;
    if (this.#tokens === undefined || this.#discovered === undefined) return undefined;
    return toSummary(name, { url, ...this.#tokens, ...this.#discovered }, true, false);
  }

  async token(refused?: string): Promise<string> {
    const { clock } = this.#options.network;
    const known = this.#tokens;
    const usable = usableToken(known, refused, clock);
    if (known !== undefined && usable !== undefined && !isDue(known, clock)) return usable;
    this.#fetching ??= this.#fetch().finally(() => {
      this.#fetching = undefined;
    });
    return usable === undefined ? this.#fetching : this.#fetching.catch(() => usable);
  }

  async #fetch(): Promise<string> {
    const { server, network, learn, onRenewal } = this.#options;
    const report = (outcome: RenewalOutcome) => this.#tokens !== undefined && onRenewal(outcome);
    try {
      this.#discovered ??= await discover(server, network, never());
      const client = { client_id: server.auth?.clientId ?? '' };
      const grant = { grant_type: 'client_credentials', ...toParameters(this.#discovered) };
      const tokens = await requestTokens(withSecret({ ...this.#discovered, client }, server), grant, network, never());
      learn([tokens.accessToken]);
      report('renewed');
      this.#tokens = tokens;
      return tokens.accessToken;
    } catch (error) {
      report(error instanceof LoginFailure && error.refusal !== undefined ? 'refused' : 'failed');
      throw error;
    }
  }
}

/** The token, if it is valid and was not refused. */
function usableToken(tokens: Tokens | undefined, refused: string | undefined, clock: Clock): string | undefined {
  const { accessToken, expiresAt = Number.POSITIVE_INFINITY } = tokens ?? {};
  return accessToken !== refused && clock.now().getTime() < expiresAt ? accessToken : undefined;
}

/** Whether a token should be renewed: in its last minute, or in the second half of a short life. */
function isDue({ receivedAt, expiresAt = Number.POSITIVE_INFINITY }: Tokens, clock: Clock): boolean {
  return clock.now().getTime() > expiresAt - Math.min(EARLY_MS, (expiresAt - receivedAt) / 2);
}

/** Sent with every request for tokens, as they were granted. */
export function toParameters({ resource, scopes = [] }: Partial<Login>): Readonly<Record<string, string>> {
  return { ...(resource !== undefined && { resource }), ...(scopes.length > 0 && { scope: scopes.join(' ') }) };
}

/** The same with the configured secret of its client, which is not stored. */
export function withSecret<T extends Pick<Login, 'client'>>(login: T, { auth }: LoginServer): T {
  if (auth?.clientSecret === undefined || auth.clientId !== login.client.client_id) return login;
  return { ...login, client: { ...login.client, client_secret: auth.clientSecret } };
}

/** Another issuer or client may be configured since a person signed in. */
export function isFor({ metadata, client }: Login, { auth }: LoginServer): boolean {
  const isIssuer = auth?.issuer === undefined || isSameIssuer(metadata.issuer, auth.issuer);
  return isIssuer && (auth?.clientId ?? client.client_id) === client.client_id;
}

export function toSummary(
  server: string,
  { url, metadata, scopes, expiresAt }: Pick<Login, 'url' | 'metadata' | 'scopes' | 'expiresAt'>,
  renewable: boolean,
  isShared: boolean,
): LoginSummary {
  const end = expiresAt === undefined ? undefined : new Date(expiresAt);
  return { server, url, issuer: metadata.issuer, scopes, expiresAt: end, renewable, isShared };
}
