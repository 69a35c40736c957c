import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import type { Login } from '../../src/adapters/outbound/login/login.ts';

/** A token request that a fake issuer has received. */
export interface TokenRequest {
  readonly parameters: Readonly<Record<string, string>>;
  readonly authorization: string | undefined;
}

type Answer =
  | {
      readonly status?: number;
      readonly body?: unknown;
      readonly location?: string;
      readonly headers?: Record<string, string>;
    }
  | 'hangs';

/**
 * An MCP server's metadata, and an authorization server, at one origin. Tokens are numbered: `access-1`, `refresh-1` and so on. A refresh token
 * is accepted once. Whoever comes agrees.
 */
export class FakeIssuer {
  readonly origin: string;
  /** The paths that were requested, in order, without queries. */
  readonly seen: string[] = [];
  /** Of the same requests. */
  readonly headers: IncomingHttpHeaders[] = [];
  readonly tokenRequests: TokenRequest[] = [];
  readonly revoked: string[] = [];
  readonly registrations: unknown[] = [];
  /** Members of the metadata that are other than usual; undefined is absent. */
  metadata: Record<string, unknown> = {};
  resource: Record<string, unknown> = {};
  /** Members of token responses that are other than usual. */
  tokens: Record<string, unknown> = {};
  /** What paths answer instead. */
  readonly answers = new Map<string, Answer>();
  /** What paths wait for before they answer. */
  readonly delays = new Map<string, Promise<void>>();
  #issued = 0;
  #current = '';
  #isRevoked = false;

  private constructor(origin: string) {
    this.origin = origin;
  }

  /** Starts one for a test. */
  static async start(): Promise<FakeIssuer> {
    const server = createServer((request, response) => void issuer.#serve(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const issuer = new FakeIssuer(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return issuer;
  }

  /** Where the browser is sent when a person has agreed: the URL of the callback. */
  callbackFor(authorizationUrl: string, more: Record<string, string> = {}): string {
    const { searchParams } = new URL(authorizationUrl);
    const callback = new URL(searchParams.get('redirect_uri') ?? '');
    const parameters = { code: 'code-1', state: searchParams.get('state') ?? '', iss: this.origin, ...more };
    for (const [name, value] of Object.entries(parameters)) if (value !== '') callback.searchParams.set(name, value);
    return callback.href;
  }

  /** The access token that was issued last, unless it was revoked. */
  get accessToken(): string {
    return `access-${this.#issued}${this.#isRevoked ? '-revoked' : ''}`;
  }

  /** The access token is not valid any longer; the refresh token is. */
  revoke(): void {
    this.#isRevoked = true;
  }

  /** The refresh token that is accepted next. */
  expects(refreshToken: string): void {
    this.#current = refreshToken;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '', this.origin);
    const body = await text(request);
    this.seen.push(pathname);
    this.headers.push(request.headers);
    await this.delays.get(pathname);
    const answer = this.answers.get(pathname) ?? this.#answer(pathname, request, body);
    if (answer === 'hangs') return;
    const { status = 200, body: sent = {}, location } = answer;
    const redirect = location === undefined ? {} : { Location: location };
    const headers = { 'Content-Type': 'application/json', ...redirect, ...answer.headers };
    response.writeHead(status, headers).end(typeof sent === 'string' ? sent : JSON.stringify(sent));
  }

  #answer(path: string, { headers }: IncomingMessage, body: string): Answer {
    const { origin } = this;
    if (path.startsWith('/.well-known/oauth-protected-resource')) {
      const resource = `${origin}${path.replace('/.well-known/oauth-protected-resource', '')}`;
      return { body: { resource, authorization_servers: [origin], scopes_supported: ['read'], ...this.resource } };
    }
    if (path === '/.well-known/oauth-authorization-server') {
      return { body: { ...issuerMetadata(origin), ...this.metadata } };
    }
    if (path === '/registration') {
      this.registrations.push(JSON.parse(body));
      const { redirect_uris, scope } = JSON.parse(body) as { redirect_uris: unknown; scope?: string };
      return { status: 201, body: { client_id: `client-${this.registrations.length}`, redirect_uris, scope } };
    }
    const parameters = Object.fromEntries(new URLSearchParams(body));
    if (path === '/revocation') {
      this.revoked.push(parameters.token ?? '');
      return {};
    }
    if (path !== '/token') return { status: 404 };
    this.tokenRequests.push({ parameters, authorization: headers.authorization });
    if (parameters.grant_type === 'refresh_token' && parameters.refresh_token !== this.#current)
      return { status: 400, body: { error: 'invalid_grant' } };
    this.#issued += 1;
    this.#isRevoked = false;
    this.#current = `refresh-${this.#issued}`;
    const usual = { token_type: 'Bearer', expires_in: 3600, refresh_token: this.#current };
    return { body: { access_token: `access-${this.#issued}`, ...usual, ...this.tokens } };
  }
}

/** The metadata of an issuer at an origin, as RFC 8414 requires them. */
export function issuerMetadata(origin: string) {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorization`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/registration`,
    revocation_endpoint: `${origin}/revocation`,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
  };
}

/** A login that an issuer at an origin has given. */
export function loginAt(origin: string, tokens: Partial<Login['tokens']> = {}, receivedAt = new Date()): Login {
  return {
    id: '1',
    metadata: issuerMetadata(origin),
    client: { client_id: 'client-1' },
    tokens: { access_token: 'access-0', refresh_token: 'refresh-0', token_type: 'Bearer', scope: 'read', ...tokens },
    receivedAt: receivedAt.getTime(),
  };
}
