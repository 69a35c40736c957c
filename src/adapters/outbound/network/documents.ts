import { err, ok, type Result } from 'neverthrow';
import { reasonOf } from '../../../domain/values/certificate-problem.ts';
import { parseJson } from '../../../domain/values/json.ts';
import { readBytes } from './read-bytes.ts';

/** The documents of authorization servers have some kilobytes; with certificates, some tens. */
const MAX_BYTES = 256 * 1024;

/** Where the metadata of an issuer may be, in the order of MCP: RFC 8414, then OpenID Connect Discovery, with the path inserted and appended. */
export function issuerMetadataUrls(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const urls = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ];
  return [...new Set(urls)];
}

/** The JSON document at `url`, of at most 256 KiB and not from another URL; or why there is none, for people. */
export async function readJson(
  fetch: typeof globalThis.fetch,
  url: string,
  signal: AbortSignal,
): Promise<Result<unknown, string>> {
  try {
    const response = await fetch(url, { headers: { Accept: 'application/json' }, redirect: 'manual', signal });
    if (response.status !== 200) {
      await response.body?.cancel();
      return err(`${url} has the status ${response.status}`);
    }
    const text = await bodyText(response);
    if (text === undefined) return err(`${url} has more than ${MAX_BYTES} bytes`);
    const value = parseJson(text);
    return value === undefined ? err(`${url} is not JSON`) : ok(value);
  } catch (error) {
    return err(`${url}: ${signal.aborted ? 'no response in time' : reasonOf(error)}`);
  }
}

/** The body of a response; undefined if there are more than `MAX_BYTES`. */
export async function bodyText({ body }: Response): Promise<string | undefined> {
  const { bytes, isCut } = await readBytes(body, MAX_BYTES);
  return isCut ? undefined : bytes.toString();
}
