import { createServer, type Server } from 'node:http';
import { exportJWK, type GenerateKeyPairResult, generateKeyPair, type JWK, SignJWT } from 'jose';

/** What an issuer publishes, on loopback. A test may change `pages` and `keys` at any time. */
export interface LocalIssuer {
  readonly url: string;
  /** The paths that were requested, in order. */
  readonly requests: string[];
  /** By path. A number is the status of an empty response; null is no response. */
  readonly pages: Map<string, object | string | number | null>;
  close(): Promise<void>;
}

export async function startLocalIssuer(): Promise<LocalIssuer> {
  const requests: string[] = [];
  const pages: LocalIssuer['pages'] = new Map();
  const server: Server = createServer((request, response) => {
    const path = request.url ?? '';
    requests.push(path);
    const page = pages.get(path);
    if (page === null) return;
    if (page === undefined || typeof page === 'number') {
      response.writeHead(page ?? 404, { Location: '/keys' }).end();
    } else response.end(typeof page === 'string' ? page : JSON.stringify(page));
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { readonly port: number };
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${port}`, requests, pages, close };
}

/** A key of an issuer. */
export interface SigningKey extends GenerateKeyPairResult {
  readonly alg: string;
  readonly kid: string;
  /** As it is published. */
  readonly jwk: JWK;
}

export async function newSigningKey(alg: string, kid: string): Promise<SigningKey> {
  const pair = await generateKeyPair(alg, { extractable: true });
  return { ...pair, alg, kid, jwk: { ...(await exportJWK(pair.publicKey)), kid, alg, use: 'sig' } };
}

/** A signed token. A claim or a member of the header that is undefined is left out. */
export function sign(
  { alg, kid, privateKey }: SigningKey,
  claims: Readonly<Record<string, unknown>>,
  header: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const complete = JSON.parse(JSON.stringify({ alg, kid, typ: 'at+jwt', ...header })) as { alg: string };
  const payload = JSON.parse(JSON.stringify(claims)) as Record<string, unknown>;
  return new SignJWT(payload).setProtectedHeader(complete).sign(privateKey, { crit: { 'urn:example': true } });
}
