import { isSpecType } from '@modelcontextprotocol/client';
import { TIMED_OUT, withDeadline } from '../../../application/async/deadline.ts';
import type { Clock } from '../../../application/ports/services.ts';
import { reasonOf } from '../../../domain/values/certificate-problem.ts';
import { shortLine } from '../../../domain/values/clean-text.ts';
import { isObject, type JsonObject, parseJson } from '../../../domain/values/json.ts';
import { isLoopbackUrl, isSecureUrl } from '../network/addresses.ts';
import { readDocument as readText } from '../network/read-bytes.ts';
import { issuerId, usableSeconds } from './login.ts';

/** How requests to servers and issuers are sent: through the configured proxy. */
export interface Network {
  readonly fetch: typeof fetch;
  readonly clock: Clock;
}

/** Why a login failed, for people. `refusal` is the code of an OAuth error (4xx). Without it, a later request may succeed. */
export class LoginFailure extends Error {
  readonly refusal: string | undefined;

  constructor(message: string, refusal?: string) {
    super(shortLine(message, MAX_LENGTH));
    this.refusal = refusal;
  }
}

/** Time limit of requests for tokens. Issuers replace a refresh token before they respond, so a slow response must not be lost. */
const TOKEN_MS = 60_000;
const MAX_LENGTH = 500;
const DOCUMENT_MS = 10_000;

/**
 * The `fetch` with which the official client signs in to the server at `server`. It follows no redirect, because tokens could reach another
 * host. It throws the refusal of an issuer, because the client would register again after some refusals. The client gets a 404 for a GET
 * without a JSON object.
 */
export function oauthFetch(server: string, network: Network, signal: AbortSignal) {
  return async (input: string | URL, init: RequestInit = {}): Promise<Response> => {
    const url = String(input);
    const isPost = init.method === 'POST';
    checkUrl(url, server);
    const read = async (response: Response) => ({ response, json: parseJson((await readText(response)) ?? '') });
    const limitMs = isPost ? TOKEN_MS : DOCUMENT_MS;
    const { response, json } = await send({ url, init, limitMs, read }, network, signal);
    const { error, error_description: text } = isObject(json) ? json : {};
    const { ok: isOk, status } = response;
    const hasError = typeof error === 'string' && error.trim() !== '';
    // Some issuers refuse with the status 200.
    if (isPost && (!isOk || hasError)) {
      const answer = [error, text].filter((part) => typeof part === 'string' && part.trim() !== '').join(': ');
      const isFinal = status < 500 && status !== 429 && hasError;
      throw new LoginFailure(`${url} answered ${answer || `with HTTP ${status}`}`, isFinal ? error : undefined);
    }
    if (isPost) return Response.json(readDocument(isObject(json) ? json : {}, init.body ?? ''));
    if (isOk && isObject(json)) return Response.json(readDocument(json, undefined));
    return new Response(undefined, { status: 404 });
  };
}

/** Throws for an insecure URL, and for a URL on this machine unless the server is, too: a remote server must not cause local requests. */
export function checkUrl(url: string, server: string): void {
  if (!isSecureUrl(url)) throw new LoginFailure(`${url} is not an https:// URL`);
  if (isLoopbackUrl(url) && !isLoopbackUrl(server))
    throw new LoginFailure(`${url} is on this machine, but ${server} is not`);
}

interface TimedRequest<T> {
  readonly url: string;
  readonly init: RequestInit;
  readonly limitMs: number;
  readonly read: (response: Response) => Promise<T>;
}

/** Sends a request, and resolves with the value of `read`. Rejects with a `LoginFailure` if that fails or takes too long. */
export async function send<T>(
  { url, init, limitMs, read }: TimedRequest<T>,
  { fetch, clock }: Network,
  signal: AbortSignal,
): Promise<T> {
  const { outcome } = await withDeadline(clock, limitMs, signal, async (limit) => {
    try {
      return await read(await fetch(url, { ...init, redirect: 'manual', signal: limit }));
    } catch (error) {
      throw new LoginFailure(`${url}: ${limit.reason === TIMED_OUT ? 'no response in time' : reasonOf(error)}`);
    }
  });
  return outcome;
}

/** The outcome of a task of the official client, or a `LoginFailure`. Errors about documents have `issues`, which name members that break a standard. */
export async function named<T>(who: string, task: Promise<T>): Promise<T> {
  try {
    return await task;
  } catch (error) {
    if (error instanceof LoginFailure) throw error;
    const { issues, message } = error as Error & { readonly issues?: readonly { readonly path: readonly string[] }[] };
    const members = [...new Set(issues?.map(({ path }) => path.join('.')))].join(', ');
    const why = issues === undefined ? `: ${message}` : `; missing, or of another form: ${members}`;
    throw new LoginFailure(`${who} does not conform to its standard${why}`);
  }
}

/** The failure for an error of a login or of the file system. Throws any other error, which is a bug. */
export function toFailure(error: unknown): LoginFailure {
  if (error instanceof LoginFailure) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) throw error;
  return new LoginFailure(`the login cannot be written (${code})`);
}

/** Documents of servers and issuers: the required members, and whether an object has the form of the document. */
const DOCUMENTS = {
  tokens: { isValid: isSpecType.OAuthTokens, required: { access_token: 'a', token_type: 'Bearer' } },
  registration: { isValid: isSpecType.OAuthClientInformationFull, required: { client_id: 'a', redirect_uris: [] } },
  metadata: {
    isValid: isSpecType.OAuthMetadata,
    required: {
      issuer: 'https://a.example',
      authorization_endpoint: 'https://a.example',
      token_endpoint: 'https://a.example',
      response_types_supported: ['code'],
    },
  },
  resource: { isValid: isSpecType.OAuthProtectedResourceMetadata, required: { resource: 'https://a.example' } },
} as const;

/** The times in responses, which are often written as texts. */
const TIMES = ['expires_in', 'client_id_issued_at', 'client_secret_expires_at'];

/** Reads the answer to a request of a login. `asked` is the body of the request; a registration repeats what it does not change. */
export function readDocument(json: JsonObject, asked: unknown): JsonObject {
  const read = Object.fromEntries(
    Object.entries(json)
      .map(([name, value]) => [name, withoutEmpty(TIMES.includes(name) ? usableSeconds(value) : value)] as const)
      .filter(([, value]) => value !== undefined),
  );
  if (Array.isArray(read.scope)) read.scope = read.scope.join(' ');
  const registered = typeof asked === 'string' ? parseJson(asked) : undefined;
  if (isObject(registered)) return conforming('registration', { redirect_uris: registered.redirect_uris, ...read });
  if (asked !== undefined) return conforming('tokens', { token_type: 'Bearer', ...read });
  // The client compares the issuer that the server names with that of the issuer's document.
  const { issuer, authorization_servers: issuers } = read;
  if (typeof issuer === 'string')
    return conforming('metadata', { response_types_supported: ['code'], ...read, issuer: issuerId(issuer) });
  const ids = [issuers ?? []].flat().map((one) => (typeof one === 'string' ? issuerId(one) : one));
  return conforming('resource', { ...read, ...(ids.length > 0 && { authorization_servers: ids }) });
}

/** An empty value is absent, because issuers write null or an empty text for a member that they do not use. */
function withoutEmpty(value: unknown): unknown {
  if (value === null || (typeof value === 'string' && value.trim() === '')) return undefined;
  return Array.isArray(value) ? value.filter((entry) => withoutEmpty(entry) !== undefined) : value;
}

/**
 * The document without optional members of another form, which the official client would refuse it for. Some issuers write a text in place of a list, or
 * a number in place of a text.
 */
function conforming(kind: keyof typeof DOCUMENTS, document: JsonObject): JsonObject {
  const { isValid, required } = DOCUMENTS[kind];
  if (isValid(document)) return document;
  const read = Object.entries(document).map(([name, value]) => {
    const forms = [value, typeof value === 'number' ? String(value) : [value]];
    const valid = forms.find((form) => isValid({ ...required, [name]: form }));
    return [name, valid ?? (name in required ? value : undefined)] as const;
  });
  return Object.fromEntries(read.filter(([, value]) => value !== undefined));
}
