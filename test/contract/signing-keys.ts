import { exportJWK, type GenerateKeyPairResult, generateKeyPair, type JWK, SignJWT } from 'jose';

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
