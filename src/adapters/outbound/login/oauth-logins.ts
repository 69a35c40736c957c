import { existsSync } from 'node:fs';
import { err, ok, type Result } from 'neverthrow';
import type { LoginSummary, Logins, SignedOut, SigningIn } from '../../../application/ports/logins.ts';
import type { LoginServer } from './discovery.ts';
import type { Login, SaveLogin } from './login-files.ts';
import { LoginFailure, postForm, secretsOf } from './oauth-request.ts';
import { type SignInOptions, signIn } from './sign-in.ts';
import { isFor, toSummary, withSecret } from './stored-tokens.ts';

interface OAuthLoginsOptions extends SignInOptions {
  readonly servers: readonly LoginServer[];
}

/** Logins by OAuth 2.1, as MCP describes it. */
export class OAuthLogins implements Logins {
  readonly #options: OAuthLoginsOptions;

  constructor(options: OAuthLoginsOptions) {
    this.#options = options;
  }

  async signIn(name: string, person: SigningIn, signal: AbortSignal): Promise<Result<LoginSummary, string>> {
    try {
      return ok(await this.#toSummary(name, await signIn(this.#serverOf(name), this.#options, person, signal)));
    } catch (error) {
      return err(messageOf(error));
    }
  }

  async list(): Promise<readonly LoginSummary[]> {
    const { servers, files } = this.#options;
    const summaries = servers.map(async ({ name, url }) => {
      const login = await files.read(url);
      return login && this.#toSummary(name, login);
    });
    return (await Promise.all(summaries)).filter((summary) => summary !== undefined);
  }

  async signOut(name: string, signal: AbortSignal): Promise<SignedOut> {
    const { files } = this.#options;
    const server = this.#serverOf(name);
    if (!existsSync(files.folder)) return { kind: 'none' };
    const take = async (save: SaveLogin) => {
      const login = await files.read(server.url);
      // Deletes also a file that is not a login, and what a killed process left.
      await save(undefined);
      return login;
    };
    let failure: 'not_deleted' | 'not_revoked' = 'not_deleted';
    try {
      const login = await files.locked(server.url, take, signal);
      failure = 'not_revoked';
      if (login === undefined) return { kind: 'none' };
      await this.#revoke(login, server, signal);
      return { kind: 'deleted' };
    } catch (error) {
      return { kind: failure, reason: messageOf(error) };
    }
  }

  async #revoke(login: Login, server: LoginServer, signal: AbortSignal): Promise<void> {
    const { network, learn } = this.#options;
    const { revocation_endpoint: url } = login.metadata;
    learn(secretsOf(login));
    if (url === undefined) return;
    const known = isFor(login, server) ? withSecret(login, server) : login;
    const tokens = [login.refreshToken, login.accessToken].filter((token) => token !== undefined);
    const revoked = tokens.map((token) => postForm(url, known, { token }, network, signal));
    // Each is tried, whatever becomes of the other.
    await Promise.allSettled(revoked);
    await Promise.all(revoked);
  }

  #serverOf(name: string): LoginServer {
    const server = this.#options.servers.find((server) => server.name === name);
    if (server === undefined) throw new Error(`There is no server ${name}.`);
    return server;
  }

  async #toSummary(server: string, login: Login): Promise<LoginSummary> {
    return toSummary(server, login, login.refreshToken !== undefined, await this.#options.files.isShared(login.url));
  }
}

/** A failure, or an error of the file system. */
function messageOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (error instanceof LoginFailure) return error.message;
  if (code !== undefined) return `the login cannot be written (${code})`;
  throw error;
}
