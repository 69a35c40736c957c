import { type CryptoKey, createLocalJWKSet, type JSONWebKeySet, type JWSHeaderParameters } from 'jose';
import { err, ok, type Result } from 'neverthrow';
import { never, withDeadline } from '../../../application/async/deadline.ts';
import type { TokenError } from '../../../application/ports/callers.ts';
import type { Clock, Logger } from '../../../application/ports/services.ts';
import { reasonOf } from '../../../domain/values/certificate-problem.ts';
import { isObject, parseJson } from '../../../domain/values/json.ts';
import { isSecureUrl } from '../network/addresses.ts';
import { MAX_DOCUMENT_BYTES, readDocument } from '../network/read-bytes.ts';

/** Keys that are older are read again before they are used. */
const MAX_AGE_MS = 10 * 60_000;

/** While the issuer cannot be reached, its last known keys are used for a day. */
const MAX_STALE_MS = 24 * 60 * 60_000;

/** The shortest time between two attempts, so that invalid tokens cannot cause a flood of requests. */
const COOLDOWN_MS = 10_000;

/** Time limit for all documents of an attempt together. */
export const TIME_LIMIT_MS = 5000;

interface IssuerKeysOptions {
  readonly issuer: string;
  /** The published keys; or why they cannot be read, for the log. */
  readonly read: (signal: AbortSignal) => Promise<Result<JSONWebKeySet, string>>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The published keys of an issuer. All callers share one request, and one set of keys is kept. */
export class IssuerKeys {
  readonly #options: IssuerKeysOptions;
  #known: { readonly find: ReturnType<typeof createLocalJWKSet>; readonly readMs: number } | undefined;
  #reading: Promise<void> | undefined;
  #attemptedMs = Number.NEGATIVE_INFINITY;
  #isFailing = false;

  constructor(options: IssuerKeysOptions) {
    this.#options = options;
  }

  /** Whether the keys were read once. */
  get areRead(): boolean {
    return this.#known !== undefined;
  }

  /** Whether the last attempt to read the keys succeeded. */
  get isUp(): boolean {
    return this.areRead && !this.#isFailing;
  }

  /** The key that a token names in its header. */
  async keyFor(header: JWSHeaderParameters): Promise<Result<CryptoKey, TokenError>> {
    const isRead = this.prepare();
    // Callers do not wait for an issuer that is failing.
    if (!this.#isFailing) await isRead;
    const known = await this.#find(header);
    if (known !== undefined) return ok(known);
    // The issuer may have published a new key.
    await this.prepare(0);
    const found = await this.#find(header);
    if (found !== undefined) return ok(found);
    if (!this.#isFailing) return err({ kind: 'invalid_token', problem: 'unknown_key' });
    return err({ kind: 'issuer_unavailable', retryAfterMs: this.#cooldownMs() });
  }

  /** Reads the keys, unless the known ones are younger than `ageMs`. Also called at the start, so that a problem is logged before the first token. */
  async prepare(ageMs = MAX_AGE_MS): Promise<void> {
    if (this.#known !== undefined && this.#ageMs(this.#known.readMs) < ageMs) return;
    if (this.#reading === undefined && this.#cooldownMs() > 0) return;
    this.#reading ??= this.#read();
    await this.#reading;
  }

  /** Reads the keys, and logs when a failure begins and ends. */
  async #read(): Promise<void> {
    const { clock, read, logger, issuer } = this.#options;
    const { outcome } = await withDeadline(clock, TIME_LIMIT_MS, never(), read);
    this.#attemptedMs = clock.elapsedMs();
    this.#reading = undefined;
    if (outcome.isOk()) this.#known = { find: createLocalJWKSet(outcome.value), readMs: this.#attemptedMs };
    if (outcome.isErr() === this.#isFailing) return;
    this.#isFailing = outcome.isErr();
    const what = outcome.isErr() ? `cannot be read: ${outcome.error}` : 'can be read again';
    logger.warn(`oauth: the keys of ${issuer} ${what}`);
  }

  /** The key that can verify a token; undefined if there is none, or more than one. */
  async #find(header: JWSHeaderParameters): Promise<CryptoKey | undefined> {
    if (this.#known === undefined || this.#ageMs(this.#known.readMs) > MAX_STALE_MS) return undefined;
    return this.#known.find(header).catch(() => undefined);
  }

  #ageMs(sinceMs: number): number {
    return this.#options.clock.elapsedMs() - sinceMs;
  }

  #cooldownMs(): number {
    return Math.max(0, COOLDOWN_MS - this.#ageMs(this.#attemptedMs));
  }
}

interface IssuerDocuments {
  readonly issuer: string;
  /** The URL of the keys; undefined if it is in the metadata of the issuer. */
  readonly jwksUri: string | undefined;
  readonly fetch: typeof globalThis.fetch;
}

/** The published keys of the issuer; or why they cannot be read, for the log. */
export async function readKeySet(
  { issuer, jwksUri, fetch }: IssuerDocuments,
  signal: AbortSignal,
): Promise<Result<JSONWebKeySet, string>> {
  const url = jwksUri === undefined ? await findJwksUri(issuer, fetch, signal) : ok(jwksUri);
  if (url.isErr()) return err(url.error);
  const document = await readJson(fetch, url.value, signal);
  if (document.isErr()) return err(document.error);
  const { value } = document;
  const isKeySet = isObject(value) && Array.isArray(value.keys) && value.keys.every(isObject);
  return isKeySet ? ok(value as unknown as JSONWebKeySet) : err(`${url.value} is not a set of keys`);
}

async function findJwksUri(
  issuer: string,
  fetch: typeof globalThis.fetch,
  signal: AbortSignal,
): Promise<Result<string, string>> {
  const problems: string[] = [];
  for (const url of metadataUrls(issuer)) {
    const metadata = await readJson(fetch, url, signal);
    const found = metadata.andThen((document) => jwksUriOf(document, url, issuer));
    if (found.isOk()) return found;
    problems.push(found.error);
  }
  return err(problems.join('; '));
}

/** Where the metadata of an issuer may be, in the order of MCP: RFC 8414, then OpenID Connect Discovery, with the path inserted and appended. */
function metadataUrls(issuer: string): ReadonlySet<string> {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  return new Set([
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ]);
}

/** The URL of the keys in metadata. Metadata that names another issuer is not used (RFC 8414, 3.3). */
function jwksUriOf(metadata: unknown, url: string, issuer: string): Result<string, string> {
  const { issuer: named, jwks_uri: jwksUri } = isObject(metadata) ? metadata : {};
  if (named !== issuer) {
    return err(`${url} names the issuer ${JSON.stringify(named)}, and http.oauth.issuer must be exactly the same`);
  }
  if (typeof jwksUri !== 'string' || !isSecureUrl(jwksUri)) return err(`${url} has no https:// jwks_uri`);
  return ok(jwksUri);
}

/** The JSON document at `url`, or why there is none. Redirects to another URL are not followed. */
async function readJson(
  fetch: typeof globalThis.fetch,
  url: string,
  signal: AbortSignal,
): Promise<Result<unknown, string>> {
  try {
    const response = await fetch(url, { headers: { Accept: 'application/json' }, redirect: 'manual', signal });
    if (response.status !== 200) {
      await response.body?.cancel();
      return err(`${url} answered with HTTP ${response.status}`);
    }
    const text = await readDocument(response);
    if (text === undefined) return err(`${url} has more than ${MAX_DOCUMENT_BYTES} bytes`);
    const value = parseJson(text);
    return value === undefined ? err(`${url} is not JSON`) : ok(value);
  } catch (error) {
    return err(`${url}: ${signal.aborted ? 'no response in time' : reasonOf(error)}`);
  }
}
