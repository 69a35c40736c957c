import { randomBytes } from 'node:crypto';
import { err, ok, type Result } from 'neverthrow';
import { untilAborted, withDeadline } from '../../../application/async/deadline.ts';
import type { LoginSummary, Logins, SignedOut, SigningIn } from '../../../application/ports/tool-server.ts';
import type { LoginOwner, LoginUse } from '../../../domain/gateway/login-owner.ts';
import { callbackOf, readPasted } from './browser.ts';
import { endLogin } from './end-login.ts';
import { type Login, type LoginServer, secretsOf, toSummary } from './login.ts';
import type { LoginFiles, LoginPlace } from './login-files.ts';
import { LoginFailure, type Network, toFailure } from './oauth-fetch.ts';
import { type Person, requestLogin } from './request-login.ts';

interface OAuthLoginsOptions {
  readonly servers: readonly LoginServer[];
  /** Whose login to a server a person at this machine makes. */
  readonly useOf: (server: string) => LoginUse;
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
      const uses: readonly LoginUse[] = ['shared', ...(await files.ownersAt(server.url))];
      return Promise.all(
        uses.map(async (use) => {
          const login = await files.read({ url: server.url, use });
          return login && this.#toSummary(server, login, use);
        }),
      );
    });
    return (await Promise.all(summaries)).flat().filter((summary) => summary !== undefined);
  }

  async signOut(name: string, signal: AbortSignal, owner?: LoginOwner): Promise<SignedOut> {
    const use = owner ?? this.#options.useOf(name);
    return endLogin(this.#serverOf(name), { ...this.#options, use }, signal);
  }

  async #signIn(server: LoginServer, person: SigningIn, signal: AbortSignal): Promise<Login> {
    const { files, network, learn } = this.#options;
    // Fails before the sign-in if the login could not be written.
    const place = this.#placeOf(server);
    const known = await files.locked(place, () => files.read(place), signal);
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
      await files.locked(place, () => files.write(place, login), signal);
      return login;
    } finally {
      callback.close();
    }
  }

  #serverOf(name: string): LoginServer {
    const server = this.#options.servers.find((server) => server.name === name);
    if (server === undefined) throw new Error(`There is no server ${name}.`);
    return server;
  }

  #placeOf({ name, url }: LoginServer): LoginPlace {
    return { url, use: this.#options.useOf(name) };
  }

  async #toSummary(server: LoginServer, login: Login, use = this.#options.useOf(server.name)): Promise<LoginSummary> {
    const isShared = await this.#options.files.isShared({ url: server.url, use });
    return { ...toSummary(server, login, isShared), ...(use !== 'shared' && { owner: use }) };
  }
}
