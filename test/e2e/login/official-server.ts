import { createRemoteJWKSet, jwtVerify } from 'jose';
import { expect } from 'vitest';
import { newKey, startAuthorizationServer, visit } from '../../support/authorization-server.ts';
import { protect } from '../../support/protected-server.ts';
import { startModernServer } from '../../support/servers/remote-servers.ts';
import { open, type SignInHome } from './kit.ts';

export const SCOPE = 'notes:read';

/** A server of the official SDK that accepts only tokens of an oidc-provider, which ends a login if a refresh token is used again. */
export async function startOfficialServer(tokenSeconds = 900) {
  const { issuer } = await startAuthorizationServer({ keys: [await newKey('first')], scope: SCOPE, tokenSeconds });
  const keys = createRemoteJWKSet(new URL(`${issuer}/jwks`));
  const server = await startModernServer();
  const accepts = (token: string) =>
    jwtVerify(token, keys, { issuer, audience: server.url }).then(
      ({ payload }) => payload.sub === 'alice' && payload.scope === SCOPE,
      () => false,
    );
  protect(server, { origin: issuer }, accepts, SCOPE);
  return { issuer, url: server.url, seen: server.seen };
}

/** A person whose browser is on the same machine, or who pastes what the browser shows. */
export async function signIn({ login, callback }: SignInHome, isPasted: boolean) {
  const { url, stdin, ended } = login('notes');
  const returned = `${callback}?${await visit(new URL(await url), callback)}`;
  if (isPasted) stdin.write(`${returned}\n`);
  else expect(await open(returned)).toBe(200);
  const { code, stdout, stderr } = await ended;
  expect({ code, stderr }).toMatchObject({ code: 0 });
  return stdout;
}
