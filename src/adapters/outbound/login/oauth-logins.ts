import { err, ok, type Result } from 'neverthrow';
import type { LoginSummary, Logins, SignedOut, SigningIn } from '../../../application/ports/logins.ts';
import type { LoginServer } from './discovery.ts';
import type { Login, LoginFiles } from './login-files.ts';
import { LoginFailure, type OAuthNetwork, revoke } from './oauth-request.ts';
import { signIn } from './sign-in.ts';
import { withSecret } from './stored-tokens.ts';

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
      return ok(toSummary(name, await signIn(this.#serverOf(name), this.#options, person, signal)));
    } catch (error) {
      return err(messageOf(error));
    }
  }

  async list(): Promise<readonly LoginSummary[]> {
    const { servers, files } = this.#options;
    const logins = await Promise.all(servers.map(async ({ name, url }) => ({ name, login: await files.read(url) })));
    return logins.flatMap(({ name, login }) => (login === undefined ? [] : [toSummary(name, login)]));
  }

  async signOut(name: string, signal: AbortSignal): Promise<SignedOut> {
    const { files, network, learn } = this.#options;
    const server = this.#serverOf(name);
    if ((await files.read(server.url)) === undefined) return { kind: 'none' };
    return files.locked(server.url, async (save) => {
      const login = await files.read(server.url);
      if (login === undefined) return { kind: 'none' };
      const tokens = [login.refreshToken, login.accessToken].filter((token) => token !== undefined);
      learn(tokens);
      try {
        const client = withSecret(login.client, server);
        if (login.metadata.revocation_endpoint !== undefined)
          for (const token of tokens) await revoke(login.metadata, client, token, network, signal);
        return { kind: 'deleted' };
      } catch (error) {
        return { kind: 'not_revoked', reason: messageOf(error) };
      } finally {
        await save(undefined);
      }
    });
  }

  #serverOf(name: string): LoginServer {
    const server = this.#options.servers.find((server) => server.name === name);
    if (server === undefined) throw new Error(`There is no server ${name}.`);
    return server;
  }
}

function toSummary(server: string, { url, metadata, scopes, expiresAt, refreshToken }: Login): LoginSummary {
  const end = expiresAt === undefined ? undefined : new Date(expiresAt);
  return { server, url, issuer: metadata.issuer, scopes, expiresAt: end, renewable: refreshToken !== undefined };
}

/** A failure, or an error of the file system. */
function messageOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (error instanceof LoginFailure) return error.message;
  if (code !== undefined) return `the login cannot be written (${code})`;
  throw error;
}
