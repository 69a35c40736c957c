import { err, ok, type Result } from 'neverthrow';
import { never } from '../../../application/async/deadline.ts';
import type {
  BegunLogin,
  CallbackParameters,
  CallerKey,
  CallerLogin,
  CallerLogins,
  LoginProblem,
  SecretOf,
} from '../../../application/ports/caller-logins.ts';
import type { SignedOut } from '../../../application/ports/tool-server.ts';
import { type LoginOwner, parseOwner } from '../../../domain/gateway/login-owner.ts';
import type { JsonObject } from '../../../domain/values/json.ts';
import { endLogin } from './end-login.ts';
import { isAlive, type Login, type LoginServer, secretsOf, toSummary } from './login.ts';
import type { LoginFiles } from './login-files.ts';
import type { BegunState } from './login-provider.ts';
import { toFailure } from './oauth-fetch.ts';
import { PENDING_MS, type PendingFiles } from './pending-files.ts';
import { beginLogin, finishLogin, issuerOf, type LoginContext } from './request-login.ts';

/** What has happened to a login, for the audit and metrics. */
export interface LoginEvent extends CallerKey {
  readonly event: 'login' | 'logout';
  readonly outcome: 'done' | 'failed';
  readonly scopes: readonly string[];
}

interface Options {
  /** The servers at which each caller signs in, as they are now. */
  readonly servers: () => readonly string[];
  /** A server of these with the values of its configuration. Rejects with a `LoginFailure` if they cannot be read. */
  readonly serverOf: (name: string, signal: AbortSignal) => Promise<LoginServer>;
  readonly files: LoginFiles;
  readonly pending: PendingFiles;
  readonly network: Pick<LoginContext, 'fetch' | 'clock'>;
  /** Masks secrets from now on. */
  readonly learn: LoginContext['learn'];
  readonly onEvent: (event: LoginEvent) => void;
}

/** What is kept while the browser is at the issuer. */
interface Pending {
  readonly server: string;
  readonly url: string;
  readonly owner: unknown;
  readonly redirectUrl: string;
  readonly begun: BegunState;
}

/** The logins of callers by OAuth 2.1, as MCP describes it. */
export class OAuthCallerLogins implements CallerLogins {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  async issuerOf(name: string, signal: AbortSignal): Promise<Result<string, LoginProblem>> {
    return this.#attempt(name, signal, (server) => issuerOf(server, this.#context, signal));
  }

  async begin(key: CallerKey, redirectUrl: string, signal: AbortSignal): Promise<Result<BegunLogin, LoginProblem>> {
    const { pending, files, learn, onEvent } = this.#options;
    const begun = await this.#attempt(key.server, signal, async (server) => {
      const { owner } = key;
      const { id, secret, state } = pending.begin();
      learn([state, secret]);
      const known = await files.read({ url: server.url, use: owner });
      const redirect = { redirectUrl, state, known };
      const { page: url, begun } = await beginLogin(server, this.#context, redirect, signal);
      const kept: Pending = { server: key.server, url: server.url, owner, redirectUrl, begun };
      await pending.keep({ id, secret, state }, kept as unknown as JsonObject);
      return { url, id, secret, maxAgeSeconds: PENDING_MS / 1000 };
    });
    const hasFailed = begun.isErr() && begun.error.kind === 'failed';
    if (hasFailed) onEvent({ ...key, event: 'login', outcome: 'failed', scopes: [] });
    return begun;
  }

  async finish(
    parameters: CallbackParameters,
    { secretOf, mayEnd }: { readonly secretOf: SecretOf; readonly mayEnd: (key: CallerKey) => boolean },
    signal: AbortSignal,
  ): Promise<Result<CallerKey, LoginProblem>> {
    const { pending, files, learn, onEvent } = this.#options;
    const state = parameters.get('state') ?? '';
    const taken = (await pending.take(state, secretOf)) as unknown as Pending | undefined;
    const owner = parseOwner(taken?.owner);
    if (taken === undefined || owner === undefined) return err({ kind: 'not_begun' });
    const { begun, redirectUrl, server: name, url } = taken;
    const key = { server: name, owner };
    if (!mayEnd(key)) return err({ kind: 'not_begun' });
    const finished = await this.#attempt(name, signal, async (server) => {
      // The login would belong to another server than the one that the person read.
      if (server.url !== url) return undefined;
      const redirect = { redirectUrl, state, begun, parameters };
      const login = await finishLogin(server, this.#context, redirect, signal);
      learn(secretsOf(login));
      const place = { url, use: owner };
      // The caller may have lost the right while the issuer answered.
      if (!mayEnd(key)) return undefined;
      await files.locked(place, () => files.write(place, login), signal);
      return toSummary(server, login, false).scopes;
    });
    const scopes = finished.unwrapOr(undefined);
    onEvent({ ...key, event: 'login', outcome: scopes === undefined ? 'failed' : 'done', scopes: scopes ?? [] });
    return finished.andThen((scopes) => (scopes === undefined ? err({ kind: 'not_begun' as const }) : ok(key)));
  }

  async list(owner?: LoginOwner): Promise<readonly CallerLogin[]> {
    const { files, servers } = this.#options;
    const lists = servers().map(async (name) => {
      const ownersAt = await this.#attempt(name, never(), ({ url }) => files.ownersAt(url));
      const owners = owner === undefined ? ownersAt.unwrapOr([]) : [owner];
      return Promise.all(owners.map((one) => this.read({ server: name, owner: one })));
    });
    return (await Promise.all(lists)).flat().filter((login) => login !== undefined);
  }

  async read({ server: name, owner }: CallerKey): Promise<CallerLogin | undefined> {
    const { files, network } = this.#options;
    return (
      await this.#attempt(name, never(), async (server) => {
        const place = { url: server.url, use: owner };
        const login: Login | undefined = await files.read(place);
        const isShared = await files.isShared(place);
        return login && { ...toSummary(server, login, isShared), owner, isAlive: isAlive(login, network.clock) };
      })
    ).unwrapOr(undefined);
  }

  async remove(key: CallerKey, signal: AbortSignal): Promise<SignedOut> {
    const { onEvent } = this.#options;
    const { server: name, owner } = key;
    const before = await this.read(key);
    const ended = await this.#attempt(name, signal, (server) =>
      endLogin(server, { ...this.#options, use: owner }, signal),
    );
    if (ended.isErr()) {
      const reason = ended.error.kind === 'failed' ? ended.error.reason : 'there is no such server';
      return { kind: 'not_deleted', reason };
    }
    const { kind } = ended.value;
    const outcome = kind === 'deleted' || kind === 'not_revoked' ? 'done' : 'failed';
    if (kind !== 'none') onEvent({ ...key, event: 'logout', outcome, scopes: before?.scopes ?? [] });
    return ended.value;
  }

  get #context(): LoginContext {
    const { network, learn } = this.#options;
    return { ...network, learn };
  }

  /** Runs a task with a server, if callers sign in there. */
  async #attempt<T>(
    name: string,
    signal: AbortSignal,
    task: (server: LoginServer) => Promise<T>,
  ): Promise<Result<T, LoginProblem>> {
    const { servers, serverOf } = this.#options;
    if (!servers().includes(name)) return err({ kind: 'unknown_server' });
    try {
      return ok(await task(await serverOf(name, signal)));
    } catch (error) {
      return err({ kind: 'failed', reason: toFailure(error).message });
    }
  }
}
