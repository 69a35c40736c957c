import { err, ok } from 'neverthrow';
import type { CallerKey, CallerLogin, CallerLogins } from '../../src/application/ports/caller-logins.ts';
import { idOfUse } from '../../src/domain/gateway/login-owner.ts';

const idOf = ({ server, owner }: CallerKey) => JSON.stringify([server, idOfUse(owner)]);

/** Logins in memory. The browser returns from the issuer with the state that is in the address of the issuer. */
export class FakeCallerLogins implements CallerLogins {
  readonly issuer = 'https://auth.example.com';
  readonly #servers: readonly string[];
  readonly #logins = new Map<string, CallerLogin>();
  readonly #begun = new Map<string, CallerKey>();
  #count = 0;

  constructor(servers: readonly string[]) {
    this.#servers = servers;
  }

  issuerOf: CallerLogins['issuerOf'] = async (server) =>
    this.#servers.includes(server) ? ok(this.issuer) : err({ kind: 'unknown_server' });

  begin: CallerLogins['begin'] = async (key, redirectUrl) => {
    if (!this.#servers.includes(key.server)) return err({ kind: 'unknown_server' });
    this.#count += 1;
    const id = String(this.#count);
    this.#begun.set(id, key);
    const query = new URLSearchParams({ state: id, redirect_uri: redirectUrl });
    return ok({ url: `${this.issuer}/authorization?${query}`, id, secret: `secret-${id}`, maxAgeSeconds: 600 });
  };

  finish: CallerLogins['finish'] = async (parameters, { secretOf, mayEnd }) => {
    const state = parameters.get('state') ?? '';
    const key = this.#begun.get(state);
    if (key === undefined || secretOf(state) !== `secret-${state}` || !mayEnd(key)) return err({ kind: 'not_begun' });
    this.#begun.delete(state);
    if (parameters.get('code') === null) return err({ kind: 'failed', reason: `${this.issuer} refused the login` });
    this.sign(key);
    return ok(key);
  };

  /** Gives a caller a login. */
  sign(key: CallerKey, isAlive = true): void {
    const { issuer } = this;
    const url = `https://${key.server}.example.com/mcp`;
    const life = isAlive ? { expiresAt: undefined, renewable: true } : { expiresAt: new Date(0), renewable: false };
    const login = { url, issuer, scopes: ['read'], ...life, isAlive, isShared: false };
    this.#logins.set(idOf(key), { ...key, ...login });
  }

  list: CallerLogins['list'] = async (owner) => {
    const isListed = (login: CallerLogin) => owner === undefined || idOfUse(login.owner) === idOfUse(owner);
    const listed = [...this.#logins.values()].filter(isListed);
    return this.#servers.flatMap((name) => listed.filter(({ server }) => server === name));
  };

  read: CallerLogins['read'] = async (key) => this.#logins.get(idOf(key));

  remove: CallerLogins['remove'] = async (key) =>
    this.#logins.delete(idOf(key)) ? { kind: 'deleted' } : { kind: 'none' };
}
