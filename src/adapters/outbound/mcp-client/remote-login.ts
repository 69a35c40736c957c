import type { Services } from '../../../application/ports/services.ts';
import type { LoginSummary, ServerLogin } from '../../../application/ports/tool-server.ts';
import type { ToolServerError } from '../../../domain/gateway/tool-call-error.ts';
import { isObject, parseJson } from '../../../domain/values/json.ts';
import { demandIn, scopesIn } from '../network/challenge.ts';

interface RemoteLoginOptions extends Pick<Services, 'clock'> {
  readonly name: string;
  /** How a person signs in, as the part of a sentence, such as a command or an address; undefined if this program signs in as a machine. */
  readonly signIn: string | undefined;
  /** Whether nothing may be sent without a login. */
  readonly isAlwaysRequired?: boolean | undefined;
  readonly url: string;
  /** The key `auth` of the server, if it is configured. */
  readonly auth?: object | undefined;
  /** Sends requests to the server. */
  readonly fetch: typeof fetch;
  readonly tokens: ServerTokens;
}

/** The tokens for a server. */
export interface ServerTokens {
  /**
   * The token for the next request; undefined if there is none, so that a person must sign in. `refused` is a token that the server refused,
   * and is not returned again. Rejects with the reason, for people, if no token is available now.
   */
  token(refused?: string): Promise<string | undefined>;
  /** Reads the current login; undefined if there is none. Renewals keep its ID. */
  read(): Promise<SignedIn | undefined>;
  /** The login that was last read or received. */
  readonly login: SignedIn | undefined;
  /** Why the issuer does not renew the login, for people. */
  readonly refusal?: string | undefined;
  /** The login of a machine that has a token. */
  readonly summary?: LoginSummary | undefined;
}

interface SignedIn {
  readonly id: string;
  readonly tokens: { readonly access_token: string; readonly scope?: string | undefined };
}

/** Thrown for a request that the server refuses until a person has signed in. */
export class LoginRequired extends Error {}

type Unauthorized = Extract<ToolServerError, { readonly kind: 'unauthorized' }>;

/** Thrown for a request that the server or the issuer refuses although there is a login. */
export class NotAuthorized extends Error {
  readonly error: Unauthorized;

  constructor(message: string, error: Omit<Unauthorized, 'kind'>) {
    super(message);
    this.error = { kind: 'unauthorized', ...error };
  }
}

/** Time between two looks at the login. */
const LOOK_MS = 1000;

/** Signs the requests to a server with its token, and knows when a person must sign in. */
export class RemoteLogin implements ServerLogin {
  required: string | undefined;
  readonly #options: RemoteLoginOptions;
  /** False until a login is configured, found or required. The logins of most servers are then not read again and again. */
  #isPossible: boolean;

  constructor(options: RemoteLoginOptions) {
    this.#options = options;
    this.#isPossible = options.auth !== undefined;
  }

  /** Signs requests to the server. Requests to others, such as its issuer, are not signed. */
  readonly fetch: typeof fetch = async (input, init) => {
    const { fetch, url } = this.#options;
    if (new URL(input instanceof Request ? input.url : input).origin !== new URL(url).origin) return fetch(input, init);
    this.required = undefined;
    let token = await this.#token();
    let response = await fetch(input, withToken(init, token));
    if (response.status === 401 && token !== undefined) {
      discard(response);
      token = await this.#token(token);
      response = await fetch(input, withToken(init, token));
    }
    // No other credentials are configured, so that a login is missing, whatever the server demands.
    if (response.status === 401) this.#refuse(response);
    return token === undefined ? response : this.#checked(response, init);
  };

  onChanged(listener: () => void): () => void {
    const ended = new AbortController();
    if (this.#options.signIn !== undefined) void this.#watch(listener, ended.signal);
    return () => ended.abort();
  }

  get refusal(): string | undefined {
    return this.#options.tokens.refusal;
  }

  /** The login of a machine, if it has a token. */
  get summary(): LoginSummary | undefined {
    return this.#options.tokens.summary;
  }

  /** The token for the next request; undefined if there is no login. */
  async #token(refused?: string): Promise<string | undefined> {
    const { tokens } = this.#options;
    const token = await tokens.token(refused).catch(({ message: reason }: Error) => {
      throw new NotAuthorized(reason, { status: 401, reason });
    });
    // There is a login, but it has ended, so that a person must sign in again.
    const isRequired = tokens.login !== undefined || this.#options.isAlwaysRequired === true;
    return token === undefined && isRequired ? this.#require() : token;
  }

  #refuse(response: Response): never {
    discard(response);
    const reason = 'the server did not accept the token of the client (HTTP 401)';
    if (this.#options.signIn === undefined) throw new NotAuthorized(reason, { status: 401, reason });
    return this.#require();
  }

  #require(): never {
    this.#isPossible = true;
    const why = this.refusal === undefined ? '' : `, because ${this.refusal}`;
    this.required = `requires a login${why}; sign in ${this.#options.signIn}`;
    throw new LoginRequired(this.required);
  }

  /** Throws for a 403 because of missing scopes. Unless the request is a call, a login with these scopes is then required. */
  #checked(response: Response, init: RequestInit | undefined): Response {
    const { error, scope = '' } = response.status === 403 ? demandIn(response.headers.get('WWW-Authenticate')) : {};
    if (error !== 'insufficient_scope') return response;
    discard(response);
    const { signIn, tokens } = this.#options;
    const scopes = [...new Set(scopesIn(`${tokens.login?.tokens.scope ?? ''} ${scope}`))];
    const lacks = `the login does not have all of the scopes ${scopes.join(' ')}`;
    const reason = `${lacks}; set auth.scopes in the YAML file`;
    if (signIn === undefined) throw new NotAuthorized(reason, { status: 403, scopes, reason });
    if (!isCall(init)) this.required = `${reason}, then sign in ${signIn}`;
    throw new NotAuthorized(lacks, { status: 403, scopes });
  }

  /** Notices another login and, while a login is required, another token of the same login. */
  async #watch(listener: () => void, ended: AbortSignal): Promise<void> {
    const { tokens, clock } = this.#options;
    let known = await tokens.read();
    while ((await clock.sleep(LOOK_MS, ended)) === 'elapsed') {
      this.#isPossible ||= known !== undefined;
      if (!this.#isPossible) continue;
      const before = known;
      known = await tokens.read();
      const isOther = this.required !== undefined && known?.tokens.access_token !== before?.tokens.access_token;
      if ((known?.id === before?.id && !isOther) || ended.aborted) continue;
      this.required = undefined;
      listener();
    }
  }
}

function isCall(init: RequestInit | undefined): boolean {
  const message = typeof init?.body === 'string' ? parseJson(init.body) : undefined;
  return isObject(message) && message.method === 'tools/call';
}

function withToken(init: RequestInit | undefined, token: string | undefined): RequestInit | undefined {
  if (token === undefined) return init;
  const headers = new Headers(init?.headers);
  headers.set('Authorization', `Bearer ${token}`);
  return { ...init, headers };
}

function discard({ body }: Response): void {
  void body?.cancel().catch(() => {});
}
