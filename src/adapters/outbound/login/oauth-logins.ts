import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { selectClientAuthMethod } from '@modelcontextprotocol/client';
import { err, ok, type Result } from 'neverthrow';
import { untilAborted, withDeadline } from '../../../application/async/deadline.ts';
import type { LoginSummary, Logins, SignedOut, SigningIn } from '../../../application/ports/tool-server.ts';
import { callbackOf, readPasted } from './browser.ts';
import { clientOf, type Login, type LoginServer, secretsOf, toSummary } from './login.ts';
import type { LoginFiles } from './login-files.ts';
import { LoginFailure, type Network, oauthFetch, toFailure } from './oauth-fetch.ts';
import { type Person, requestLogin } from './request-login.ts';

interface OAuthLoginsOptions {
  readonly servers: readonly LoginServer[];
  readonly files: LoginFiles;
  readonly network: Network;
  /** Masks secrets from now on. */
  readonly learn: (secrets: readonly string[]) => void;
}

const WAIT_MS = 300_000;

/** Logins by OAuth 2.1, as MCP describes it. */
export class OAuthLogins implements Logins {
  readonly #options: OAuthLoginsOptions;

  constructor(options: OAuthLoginsOptions) {
    this.#options = options;
  }

  async signIn(name: string, person: SigningIn, signal: AbortSignal): Promise<Result<LoginSummary, string>> {
    try {
      const server = this.#serverOf(name);
      return ok(await this.#toSummary(server, await this.#signIn(server, person, signal)));
    } catch (error) {
      return err(toFailure(error).message);
    }
  }

  async list(): Promise<readonly LoginSummary[]> {
    const { servers, files } = this.#options;
    const summaries = servers.map(async (server) => {
      const login = await files.read(server.url);
      return login && this.#toSummary(server, login);
    });
    return (await Promise.all(summaries)).filter((summary) => summary !== undefined);
  }

  async signOut(name: string, signal: AbortSignal): Promise<SignedOut> {
    const { files } = this.#options;
    const server = this.#serverOf(name);
    if (!existsSync(files.folder)) return { kind: 'none' };
    const take = async () => {
      const login = await files.read(server.url);
      // Also deletes a file that is not a login, and temporary files of killed processes.
      await files.write(server.url, undefined);
      return login;
    };
    let failure: 'not_deleted' | 'not_revoked' = 'not_deleted';
    try {
      const login = await files.locked(server.url, take, signal);
      failure = 'not_revoked';
      if (login !== undefined) await this.#revoke(login, server, signal);
      return { kind: login === undefined ? 'none' : 'deleted' };
    } catch (error) {
      return { kind: failure, reason: toFailure(error).message };
    }
  }

  async #signIn(server: LoginServer, person: SigningIn, signal: AbortSignal): Promise<Login> {
    const { files, network, learn } = this.#options;
    // Fails before the sign-in if the login could not be written.
    const known = await files.locked(server.url, () => files.read(server.url), signal);
    const state = randomBytes(32).toString('base64url');
    const callback = await callbackOf(server, state);
    const agree: Person['agree'] = async (url, isClientKnown) => {
      person.onUrl(url, isClientKnown);
      void readPasted(callback, person);
      const { outcome } = await withDeadline(network.clock, WAIT_MS, signal, (limit) =>
        untilAborted(callback.returned, limit),
      );
      if (outcome === 'aborted') throw new LoginFailure('no sign-in within 5 minutes');
      return outcome;
    };
    try {
      const { redirectUrl } = callback;
      const login = await requestLogin(server, { ...network, learn }, { redirectUrl, state, known, agree }, signal);
      learn(secretsOf(login));
      await files.locked(server.url, () => files.write(server.url, login), signal);
      return login;
    } finally {
      callback.close();
    }
  }

  /** Revokes each token (RFC 7009), even if the other cannot be revoked. */
  async #revoke(login: Login, server: LoginServer, signal: AbortSignal): Promise<void> {
    const { network, learn } = this.#options;
    const { metadata, tokens } = login;
    const { revocation_endpoint: url } = metadata as { readonly revocation_endpoint?: string };
    learn(secretsOf(login));
    if (url === undefined) throw new LoginFailure(`${metadata.issuer} names no revocation_endpoint`);
    const client = clientOf(login, server);
    const { client_id, client_secret } = client;
    const method = selectClientAuthMethod(client, metadata.token_endpoint_auth_methods_supported ?? []);
    const isBasic = method === 'client_secret_basic';
    const headers = new Headers(isBasic ? { Authorization: `Basic ${btoa(`${client_id}:${client_secret}`)}` } : {});
    const fetchFn = oauthFetch(server.url, network, signal);
    const revoked = [tokens.refresh_token, tokens.access_token].map(async (token) => {
      const body = new URLSearchParams({ ...(!isBasic && { client_id, ...(client_secret && { client_secret }) }) });
      body.set('token', token ?? '');
      if (token !== undefined) await fetchFn(url, { method: 'POST', headers, body });
    });
    await Promise.allSettled(revoked);
    await Promise.all(revoked);
  }

  #serverOf(name: string): LoginServer {
    const server = this.#options.servers.find((server) => server.name === name);
    if (server === undefined) throw new Error(`There is no server ${name}.`);
    return server;
  }

  async #toSummary(server: LoginServer, login: Login): Promise<LoginSummary> {
    return toSummary(server, login, await this.#options.files.isShared(server.url));
  }
}
