import { refreshAuthorization } from '@modelcontextprotocol/client';
import { never } from '../../../application/async/deadline.ts';
import type { LoginSummary } from '../../../application/ports/tool-server.ts';
import type { LoginUse } from '../../../domain/gateway/login-owner.ts';
import { reasonOf } from '../../../domain/values/certificate-problem.ts';
import {
  clientOf,
  isDue,
  isSamePlace,
  kindOf,
  type Login,
  type LoginServer,
  type Machine,
  secretsOf,
  toSummary,
  usableToken,
} from './login.ts';
import type { LoginFiles } from './login-files.ts';
import { type LoginFailure, type Network, named, oauthFetch, toFailure } from './oauth-fetch.ts';
import { requestLogin } from './request-login.ts';

/** The outcome of a renewal, for metrics. */
export type RenewalOutcome = 'renewed' | 'refused' | 'failed';

interface TokensOptions {
  readonly server: LoginServer;
  /** Whose login it is. */
  readonly use: LoginUse;
  readonly files: Pick<LoginFiles, 'read' | 'locked' | 'write'>;
  readonly network: Network;
  /** Masks secrets from now on. */
  readonly learn: (secrets: readonly string[]) => void;
  /** Reports a renewal, with the reason if the login was not renewed, or not written. */
  readonly onRenewal: (outcome: RenewalOutcome, reason?: string) => void;
}

/** A login, as its kind keeps and renews it. */
interface KeptLogin {
  /** The login that was last read or received. */
  readonly login: Login | undefined;
  /** Whether only a person can replace a login that has ended. */
  readonly isOfPerson: boolean;
  read(): Promise<Login | undefined>;
  /** Replaces a login, or gets the first one. Rejects with a `LoginFailure` or an error of the file system. */
  renew(known: Login | undefined): Promise<Login | undefined>;
}

/** The tokens of a login of any kind. See `ServerTokens` of the MCP client. */
export class LoginTokens {
  readonly #options: TokensOptions;
  readonly #kept: KeptLogin;
  #renewing: Promise<Login | undefined> | undefined;
  /** The token whose renewal failed. It is used until it expires. */
  #unrenewed: string | undefined;
  /** The token that the issuer refused to renew, and why. */
  #refused: { readonly token: string | undefined; readonly reason: string } | undefined;

  constructor(options: TokensOptions) {
    const kind = kindOf(options.server.auth);
    this.#options = options;
    this.#kept = kind === 'person' ? new PersonLogin(options) : new MachineLogin(options, kind);
  }

  get login(): Login | undefined {
    return this.#kept.login;
  }

  get refusal(): string | undefined {
    const { token, reason } = this.#refused ?? {};
    // The login of a caller is deleted when it is refused.
    return token === (this.login?.tokens.access_token ?? token) ? reason : undefined;
  }

  /** The login of a machine; undefined for a person. */
  get summary(): LoginSummary | undefined {
    const { isOfPerson, login } = this.#kept;
    return isOfPerson || login === undefined ? undefined : toSummary(this.#options.server, login, false);
  }

  read(): Promise<Login | undefined> {
    return this.#kept.read();
  }

  async token(refused?: string): Promise<string | undefined> {
    const { clock } = this.#options.network;
    const { isOfPerson } = this.#kept;
    const login = this.login ?? (await this.read());
    if (login === undefined && isOfPerson) return undefined;
    if (login?.tokens.access_token !== this.#refused?.token) this.#refused = undefined;
    const usable = usableToken(login, refused, clock);
    if (login !== undefined && usable !== undefined && (usable === this.#unrenewed || !isDue(login, clock)))
      return usable;
    this.#renewing ??= this.#renewed(login).finally(() => {
      this.#renewing = undefined;
    });
    try {
      return usableToken(await this.#renewing, refused, clock);
    } catch (error) {
      this.#unrenewed = usable;
      const isEnded = isOfPerson && (error as LoginFailure).refusal !== undefined;
      if (usable === undefined && !isEnded) throw error;
      return usable;
    }
  }

  async #renewed(known: Login | undefined): Promise<Login | undefined> {
    try {
      return await this.#kept.renew(known);
    } catch (error) {
      const failure = toFailure(error);
      const outcome = failure.refusal === undefined ? 'failed' : 'refused';
      if (outcome === 'refused') this.#refused = { token: known?.tokens.access_token, reason: failure.message };
      if (known !== undefined) this.#options.onRenewal(outcome, failure.message);
      throw failure;
    }
  }
}

/** The login of a machine, which is in memory only. */
class MachineLogin implements KeptLogin {
  login: Login | undefined;
  readonly isOfPerson = false;
  readonly #options: TokensOptions;
  readonly #machine: Machine;

  constructor(options: TokensOptions, machine: Machine) {
    this.#options = options;
    this.#machine = machine;
  }

  async read(): Promise<Login | undefined> {
    return this.login;
  }

  async renew(known: Login | undefined): Promise<Login> {
    const { server, network, learn, onRenewal } = this.#options;
    this.login = await requestLogin(server, { ...network, learn }, this.#machine, never());
    learn(secretsOf(this.login));
    if (known !== undefined) onRenewal('renewed');
    return this.login;
  }
}

/**
 * The login of a person, which is on disk. Processes renew it one at a time, because issuers replace a refresh token when it is presented, and end
 * the login if it is presented again.
 */
class PersonLogin implements KeptLogin {
  login: Login | undefined;
  readonly isOfPerson = true;
  readonly #options: TokensOptions;
  /** A renewed login that could not be written, such as on a full disk, and the token that it replaces. */
  #unwritten: { readonly login: Login; readonly replaced: string } | undefined;

  constructor(options: TokensOptions) {
    this.#options = options;
  }

  async read(): Promise<Login | undefined> {
    const { server, use, files } = this.#options;
    if (this.#unwritten !== undefined)
      await files.locked({ url: server.url, use }, () => this.#write()).catch(() => {});
    return this.#read();
  }

  async renew(known: Login | undefined): Promise<Login | undefined> {
    const { server, use, files } = this.#options;
    return known && files.locked({ url: server.url, use }, () => this.#refreshed(known.tokens.access_token));
  }

  async #read(): Promise<Login | undefined> {
    const { server, use, files, learn } = this.#options;
    const stored = await files.read({ url: server.url, use });
    // Meanwhile, a person may have signed in or out.
    if (stored?.tokens.access_token !== this.#unwritten?.replaced) this.#unwritten = undefined;
    const login = this.#unwritten?.login ?? stored;
    if (login !== undefined) learn(secretsOf(login));
    this.login = login !== undefined && isFor(login, server) ? login : undefined;
    return this.login;
  }

  /** Renews the login, unless another process has already renewed it. */
  async #refreshed(known: string): Promise<Login | undefined> {
    const { server, use, network, onRenewal } = this.#options;
    const login = await this.#read();
    const { scope, refresh_token: refreshToken } = login?.tokens ?? {};
    if (login?.tokens.access_token !== known || refreshToken === undefined) return login;
    const { metadata, resource } = login;
    const keep = (change: Partial<Login>) => {
      this.#unwritten = { login: { ...login, ...change }, replaced: this.#unwritten?.replaced ?? known };
      return this.#write();
    };
    try {
      const refreshing = refreshAuthorization(metadata.issuer, {
        metadata,
        clientInformation: clientOf(login, server),
        refreshToken,
        ...(scope && { scope }),
        ...(resource !== undefined && { resource }),
        fetchFn: oauthFetch(server.url, network, never()),
      });
      const tokens = await named(`the response of ${metadata.token_endpoint}`, refreshing);
      onRenewal('renewed', await keep({ tokens, receivedAt: network.clock.now().getTime() }));
      return this.login;
    } catch (error) {
      const { refusal } = error as LoginFailure;
      if (use !== 'shared' && refusal !== undefined && !OF_OTHERS.includes(refusal)) await this.#delete();
      else if (refusal === 'invalid_grant') await keep({ tokens: { ...login.tokens, refresh_token: undefined } });
      throw error;
    }
  }

  /** Deletes a login that has ended. The caller of this method has the lock. */
  async #delete(): Promise<void> {
    const { server, use, files } = this.#options;
    this.#unwritten = undefined;
    this.login = undefined;
    await files.write({ url: server.url, use }, undefined);
  }

  /** Writes the unwritten login. The caller has the lock. Resolves with the reason if it still cannot be written. */
  async #write(): Promise<string | undefined> {
    const { server, use, files } = this.#options;
    await this.#read();
    if (this.#unwritten === undefined) return undefined;
    try {
      await files.write({ url: server.url, use }, this.#unwritten.login);
      this.#unwritten = undefined;
      return undefined;
    } catch (error) {
      return reasonOf(error);
    }
  }
}

/** Refusals that say nothing about the login: of the client, or for a time only. */
const OF_OTHERS = ['invalid_client', 'unauthorized_client', 'temporarily_unavailable', 'server_error', 'slow_down'];

/** Whether a login matches the configured issuer and client, which may have changed since a person signed in. */
function isFor({ metadata, client }: Login, { auth }: LoginServer): boolean {
  const isIssuer = auth?.issuer === undefined || isSamePlace(metadata.issuer, auth.issuer);
  return isIssuer && (auth?.clientId ?? client.client_id) === client.client_id;
}
