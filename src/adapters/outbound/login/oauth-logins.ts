import { err, ok, type Result } from 'neverthrow';
import type { LoginSummary, Logins, SignedOut, SigningIn } from '../../../application/ports/logins.ts';
import type { LoginServer } from './discovery.ts';
import { type Login, type LoginFiles, secretsOf } from './login-files.ts';
import { LoginFailure, type OAuthNetwork, revoke } from './oauth-request.ts';
import { signIn } from './sign-in.ts';
import { isFor, withSecret } from './stored-tokens.ts';

interface OAuthLoginsOptions {
  readonly servers: readonly LoginServer[];
  readonly files: LoginFiles;
  readonly network: OAuthNetwork;
  /** Masks secrets from now on. */
  readonly learn: (secrets: readonly string[]) => void;
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
    const { files, network, learn } = this.#options;
    const server = this.#serverOf(name);
    if (!(await files.exist())) return { kind: 'none' };
    let login: Login | undefined;
    try {
      await files.locked(
        server.url,
        async (save) => {
          login = await files.read(server.url);
          // Deletes also a file that is not a login, and what a killed process left.
          await save(undefined);
        },
        signal,
      );
    } catch (error) {
      return { kind: 'not_deleted', reason: messageOf(error) };
    }
    if (login === undefined) return { kind: 'none' };
    const { metadata, client, refreshToken, accessToken } = login;
    const tokens = [refreshToken, accessToken].filter((token) => token !== undefined);
    learn(secretsOf(login));
    const known = isFor(login, server) ? withSecret(client, server) : client;
    if (metadata.revocation_endpoint === undefined) return { kind: 'deleted' };
    try {
      for (const token of tokens) await revoke(metadata, known, token, network, signal);
      return { kind: 'deleted' };
    } catch (error) {
      return { kind: 'not_revoked', reason: messageOf(error) };
    }
  }

  #serverOf(name: string): LoginServer {
    const server = this.#options.servers.find((server) => server.name === name);
    if (server === undefined) throw new Error(`There is no server ${name}.`);
    return server;
  }

  async #toSummary(server: string, login: Login): Promise<LoginSummary> {
    const { url, metadata, scopes, expiresAt, refreshToken } = login;
    const end = expiresAt === undefined ? undefined : new Date(expiresAt);
    const renewable = refreshToken !== undefined;
    const isShared = await this.#options.files.isShared(url);
    return { server, url, issuer: metadata.issuer, scopes, expiresAt: end, renewable, isShared };
  }
}

/** A failure, or an error of the file system. */
function messageOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (error instanceof LoginFailure) return error.message;
  if (code !== undefined) return `the login cannot be written (${code})`;
  throw error;
}
