import { err, ok, type Result } from 'neverthrow';
import { untilAborted } from '../../src/application/async/deadline.ts';
import type { LoginSummary, Logins, SignedOut, SigningIn } from '../../src/application/ports/tool-server.ts';
import type { LoginOwner } from '../../src/domain/gateway/login-owner.ts';

export const CALLBACK = 'http://127.0.0.1:3918/callback';

/** Signs in as soon as the URL of the callback is pasted, or `signsIn` is set. */
export class FakeLogins implements Logins {
  /** What signing in fails with, if it is set. */
  failure: string | undefined;
  /** Whether the person signs in at once, in the browser. */
  signsIn = true;
  /** What `signOut` reports beside the deletion. */
  notRevoked: string | undefined;
  readonly #servers: Readonly<Record<string, string>>;
  readonly #logins = new Map<string, LoginSummary>();
  readonly #ofCallers: LoginSummary[] = [];

  /** The URLs of the servers, by their names. */
  constructor(servers: Readonly<Record<string, string>>) {
    this.#servers = servers;
  }

  async signIn(server: string, person: SigningIn, signal: AbortSignal): Promise<Result<LoginSummary, string>> {
    if (this.failure !== undefined) return err(this.failure);
    const url = `https://auth.example.com/authorize?state=right&redirect_uri=${encodeURIComponent(CALLBACK)}`;
    person.onUrl(url, this.#logins.has(server));
    const pasted = async () => {
      for await (const line of person.lines) {
        if (line.startsWith(`${CALLBACK}?state=right`)) return;
        person.onIgnored('the URL is not the answer to this login');
      }
    };
    if (!this.signsIn) await untilAborted(pasted(), signal);
    if (signal.aborted) return err('no sign-in');
    const login = this.#loginTo(server);
    this.#logins.set(server, login);
    return ok(login);
  }

  #loginTo(server: string) {
    return {
      server,
      url: this.#servers[server] ?? '',
      issuer: 'https://auth.example.com',
      scopes: ['read'],
      expiresAt: new Date('2026-01-05T04:00:00Z'),
      renewable: true,
      isShared: false,
    };
  }

  async list(): Promise<readonly LoginSummary[]> {
    return Object.keys(this.#servers).flatMap((name) => [
      ...(this.#logins.get(name) === undefined ? [] : [this.#loginTo(name)]),
      ...this.#ofCallers.filter(({ server }) => server === name),
    ]);
  }

  /** Gives callers over HTTP logins to a server. */
  sign(server: string, ...owners: readonly LoginOwner[]): void {
    for (const owner of owners) this.#ofCallers.push({ ...this.#loginTo(server), owner });
  }

  async signOut(server: string, _?: AbortSignal, owner?: LoginOwner): Promise<SignedOut> {
    const at = this.#ofCallers.findIndex((one) => one.server === server && one.owner === owner);
    const isDeleted = owner === undefined ? this.#logins.delete(server) : at >= 0 && this.#ofCallers.splice(at, 1);
    if (isDeleted === false) return { kind: 'none' };
    return this.notRevoked === undefined ? { kind: 'deleted' } : { kind: 'not_revoked', reason: this.notRevoked };
  }
}
