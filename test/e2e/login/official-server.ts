import { createRemoteJWKSet, jwtVerify } from 'jose';
import { expect } from 'vitest';
import { newKey, startAuthorizationServer, visit } from '../../support/authorization-server.ts';
import { type Admission, startModernServer } from '../../support/servers/remote-servers.ts';
import { open, type SignInHome } from './kit.ts';

export const SCOPE = 'notes:read';

/** A server of the official SDK that admits only the tokens of an oidc-provider for itself. That ends a login if a refresh token is used again. */
export async function startOfficialServer(tokenSeconds = 900) {
  const { issuer } = await startAuthorizationServer({ keys: [await newKey('first')], scope: SCOPE, tokenSeconds });
  const keys = createRemoteJWKSet(new URL(`${issuer}/jwks`));
  const admits: Admission = async ({ url = '', headers }, response) => {
    const origin = `http://${headers.host}`;
    const metadata = '/.well-known/oauth-protected-resource/mcp';
    if (url === metadata) {
      const document = { resource: `${origin}/mcp`, authorization_servers: [issuer], scopes_supported: [SCOPE] };
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(document));
      return false;
    }
    const token = headers.authorization?.replace(/^Bearer /, '') ?? '';
    const isValid = await jwtVerify(token, keys, { issuer, audience: `${origin}/mcp` }).then(
      ({ payload }) => payload.sub === 'alice' && payload.scope === SCOPE,
      () => false,
    );
    if (!isValid)
      response.writeHead(401, { 'WWW-Authenticate': `Bearer resource_metadata="${origin}${metadata}"` }).end();
    return isValid;
  };
  const { url, seen } = await startModernServer(undefined, admits);
  return { issuer, url, seen };
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
