import type { JSONWebKeySet } from 'jose';
import { err, ok, type Result } from 'neverthrow';
import { reasonOf } from '../../../domain/values/certificate-problem.ts';
import { isObject, parseJson } from '../../../domain/values/json.ts';
import { isSecureUrl } from '../network/addresses.ts';
import { MAX_DOCUMENT_BYTES, readDocument } from '../network/read-bytes.ts';

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
