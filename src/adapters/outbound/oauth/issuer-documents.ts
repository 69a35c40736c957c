import type { JSONWebKeySet } from 'jose';
import { err, ok, type Result } from 'neverthrow';
import { isObject } from '../../../domain/values/json.ts';
import { isSecureUrl } from '../network/addresses.ts';
import { issuerMetadataUrls, readJson } from '../network/documents.ts';

interface IssuerDocuments {
  readonly issuer: string;
  /** The URL of the keys, if it is not to be read from the metadata of the issuer. */
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
  for (const url of issuerMetadataUrls(issuer)) {
    const metadata = await readJson(fetch, url, signal);
    const found = metadata.andThen((document) => jwksUriOf(document, url, issuer));
    if (found.isOk()) return found;
    problems.push(found.error);
  }
  return err(problems.join('; '));
}

/** RFC 8414, 3.3: metadata that names another issuer is not used. */
function jwksUriOf(metadata: unknown, url: string, issuer: string): Result<string, string> {
  const { issuer: named, jwks_uri: jwksUri } = isObject(metadata) ? metadata : {};
  if (named !== issuer) {
    return err(`${url} names the issuer ${JSON.stringify(named)}, and http.oauth.issuer must be exactly the same`);
  }
  if (typeof jwksUri !== 'string' || !isSecureUrl(jwksUri)) return err(`${url} has no https:// jwks_uri`);
  return ok(jwksUri);
}
