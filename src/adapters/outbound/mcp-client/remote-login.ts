import { stat } from 'node:fs/promises';
import type { Clock } from '../../../application/ports/clock.ts';
import type { LoginSummary } from '../../../application/ports/logins.ts';
import type { ServerLogin } from '../../../application/ports/tool-server.ts';
import { loginCommand, type ToolServerError } from '../../../domain/gateway/tool-call-error.ts';
import { type Challenge, readChallenge, scopesIn } from '../network/challenge.ts';

interface RemoteLoginOptions {
  readonly name: string;
  readonly url: string;
  /** How it is configured, if it is. */
  readonly auth?: { readonly grant: 'authorization_code' | 'client_credentials' } | undefined;
  readonly clock: Clock;
  /** Sends requests to the server. */
  readonly fetch: typeof fetch;
  /** The file with the login. */
  readonly path: string;
  /** Loads what knows OAuth, with the first login, challenge or `auth` (ruling O22). */
  readonly load: () => Promise<LoadedLogin>;
}

/** What knows OAuth. */
export interface LoadedLogin {
  /**
   * The token for the next request; undefined if there is none, so that a person must sign in. `refused` is the token of a request that the
   * server refused: the next one is another. Rejects with the reason, for people, if none can be had now (rulings O17 and O20).
   */
  token(refused?: string): Promise<string | undefined>;
  /** Why the issuer has refused to continue the login, for people. */
  readonly refusal?: string | undefined;
  /** Of a machine that has a token (ruling O14). */
  readonly summary?: LoginSummary | undefined;
  /** Reads the login again; undefined if there is none. Renewals keep the ID. */
  read(): Promise<SignedIn | undefined>;
}

interface SignedIn {
  readonly id: string;
  readonly accessToken: string;
  readonly scopes: readonly string[];
}

/** A request that the server refuses until a person has signed in. */
export class LoginRequired extends Error {}

type Unauthorized = Extract<ToolServerError, { readonly kind: 'unauthorized' }>;

/** A request that the server, or the issuer, refuses, although there is a login. */
export class NotAuthorized extends Error {
  readonly error: Unauthorized;

  constructor(message: string, error: Omit<Unauthorized, 'kind'>) {
    super(message);
    this.error = { kind: 'unauthorized', ...error };
  }
}

/** How often the file of the login is looked at. */
const LOOK_MS = 1000;

/** Signs the requests to a server with its token, and knows when a person must sign in (rulings O3, O6, O16, O17). */
export class RemoteLogin implements ServerLogin {
  required: string | undefined;
  readonly #options: RemoteLoginOptions;
  readonly #origin: string;
  readonly #isMachine: boolean;
  #loaded: Promise<LoadedLogin> | undefined;
  /** The file when it was read last: its time and number; undefined if there was none. */
  #seen: string | undefined;
  #login: SignedIn | undefined;
  #firstRead: Promise<boolean> | undefined;

  constructor(options: RemoteLoginOptions) {
    this.#options = options;
    this.#origin = new URL(options.url).origin;
    this.#isMachine = options.auth?.grant === 'client_credentials';
  }

  /** For requests to the server; others, such as to its issuer, are not signed. */
  readonly fetch: typeof fetch = async (input, init) => {
    const { fetch, auth } = this.#options;
    if (new URL(input instanceof Request ? input.url : input).origin !== this.#origin) return fetch(input, init);
    this.#firstRead ??= this.#readFile();
    await this.#firstRead;
    const token = await this.#token();
    const response = await this.#send(input, init, token);
    if (response.status !== 401) return token === undefined ? response : this.#checked(response, init);
    if (token === undefined) return auth || challengeOf(response) ? this.#refuse(response) : response;
    discard(response);
    const second = await this.#send(input, init, await this.#token(token));
    return second.status === 401 ? this.#refuse(second) : this.#checked(second, init);
  };

  onChanged(listener: () => void): () => void {
    const ended = new AbortController();
    void this.#watch(listener, ended.signal);
    return () => ended.abort();
  }

  /** The login of a machine, if it has a token. */
  async summary(): Promise<LoginSummary | undefined> {
    return (await this.#loaded)?.summary;
  }

  /** The token for the next request; undefined if there is no login. */
  async #token(refused?: string): Promise<string | undefined> {
    if (!this.#isMachine && this.#login === undefined) return undefined;
    const tokens = await this.#load();
    const token = await tokens.token(refused).catch(({ message: reason }: Error) => {
      throw new NotAuthorized(reason, { status: 401, reason });
    });
    // A login that has ended is not tried again.
    return token ?? this.#require(tokens.refusal);
  }

  async #send(input: string | URL | Request, init: RequestInit | undefined, token: string | undefined) {
    try {
      return await this.#options.fetch(input, token === undefined ? init : withToken(init, token));
    } finally {
      this.required = undefined;
    }
  }

  #refuse(response: Response): never {
    discard(response);
    const reason = 'the server did not accept the token of the client (HTTP 401)';
    if (this.#isMachine) throw new NotAuthorized(reason, { status: 401, reason });
    return this.#require();
  }

  #require(why?: string): never {
    const { name } = this.#options;
    this.required = `requires a login${why === undefined ? '' : ` (${why})`}; sign in with: ${loginCommand(name)}`;
    throw new LoginRequired(this.required);
  }

  /** A 403 for missing scopes is a login that lacks them at the first connection, and otherwise a failed call (ruling O6). */
  async #checked(response: Response, init: RequestInit | undefined): Promise<Response> {
    const challenge = response.status === 403 ? challengeOf(response) : undefined;
    if (challenge?.error !== 'insufficient_scope') return response;
    discard(response);
    const wanted = [...new Set([...(this.#login?.scopes ?? []), ...scopesIn(challenge.scope ?? '')])];
    const lacks = `the login has not all of the scopes ${wanted.join(' ')}`;
    const reason = `${lacks}; set auth.scopes`;
    if (this.#isMachine) throw new NotAuthorized(reason, { status: 403, scopes: wanted, reason });
    const isCall = typeof init?.body === 'string' && init.body.includes('"method":"tools/call"');
    if (!isCall) this.required = `${reason}, then sign in with: ${loginCommand(this.#options.name)}`;
    throw new NotAuthorized(lacks, { status: 403, scopes: wanted });
  }

  #load(): Promise<LoadedLogin> {
    this.#loaded ??= this.#options.load();
    return this.#loaded;
  }

  /** Resolves with whether there is another login, or none any longer. */
  async #readFile(): Promise<boolean> {
    const file = await stat(this.#options.path).catch(() => undefined);
    const seen = file && `${file.mtimeMs} ${file.ino}`;
    if (seen === this.#seen) return false;
    this.#seen = seen;
    const before = this.#login;
    const after = await (await this.#load()).read();
    this.#login = after;
    // Another token of the same login may be what a server lacks that refused the earlier one.
    const isOther = this.required !== undefined && after?.accessToken !== before?.accessToken;
    return after?.id !== before?.id || isOther;
  }

  async #watch(listener: () => void, ended: AbortSignal): Promise<void> {
    if (this.#isMachine) return;
    while ((await this.#options.clock.sleep(LOOK_MS, ended)) === 'elapsed') {
      // The first request reads it.
      if (this.#firstRead === undefined || !(await this.#readFile()) || ended.aborted) continue;
      this.required = undefined;
      listener();
    }
  }
}

function withToken(init: RequestInit | undefined, token: string): RequestInit {
  const headers = new Headers(init?.headers);
  headers.set('Authorization', `Bearer ${token}`);
  return { ...init, headers };
}

function challengeOf({ headers }: Response): Challenge | undefined {
  return readChallenge(headers.get('www-authenticate'));
}

function discard({ body }: Response): void {
  void body?.cancel().catch(() => {});
}
