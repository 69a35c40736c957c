import { createRemoteJWKSet, jwtVerify } from 'jose';
import { expect, test } from 'vitest';
import { newKey, startAuthorizationServer, visit } from '../../support/authorization-server.ts';
import { HOME_VARIABLE } from '../../support/platform.ts';
import { type Admission, startModernServer } from '../../support/servers/remote-servers.ts';
import { startGatewayProcess } from '../gateway/serve-gateway.ts';
import { newHome, open, type SignInHome } from './kit.ts';

const SCOPE = 'notes:read';
const MESSAGE =
  "The server notes requires a login. Sign in on the gateway's machine with: openai-responses-mcp login notes";

/** A server of the official SDK that admits only tokens of this issuer for itself. */
async function startProtectedServer(issuer: string) {
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
  return startModernServer(undefined, admits);
}

/** A person whose browser is on the same machine, or who pastes what the browser shows. */
async function signIn({ login, callback }: SignInHome, isPasted: boolean) {
  const { url, stdin, ended } = login('notes');
  const returned = `${callback}?${await visit(new URL(await url), callback)}`;
  if (isPasted) stdin.write(`${returned}\n`);
  else expect(await open(returned)).toBe(200);
  const { code, stdout, stderr } = await ended;
  expect({ code, stderr }).toMatchObject({ code: 0 });
  return stdout;
}

test('a person signs in to a protected server, and every way to its tools works, until the person signs out', async () => {
  const { issuer } = await startAuthorizationServer({ keys: [await newKey('first')], scope: SCOPE });
  const { url, seen } = await startProtectedServer(issuer);
  const home = await newHome({ notes: url });
  const gateway = await startGatewayProcess(home.servers, { env: { [HOME_VARIABLE]: home.home } });
  expect(await gateway.untilState('notes', 'login_required')).toMatchObject({
    login: 'openai-responses-mcp login notes',
  });
  expect(await gateway.call('notes', 'echo', { text: 'hi' })).toMatchObject({
    status: 503,
    body: { error: { code: 'LOGIN_REQUIRED', message: MESSAGE } },
  });
  const call = () => home.run('call', 'notes', 'echo', '{"text":"hi"}');
  expect(await call()).toMatchObject({ code: 1, stdout: '', stderr: `${MESSAGE}\n` });

  expect(await signIn(home, false)).toMatch(
    new RegExp(`^Signed in to notes: ${issuer}, scopes ${SCOPE}.*, until .*, then renewed\\n$`),
  );
  await gateway.untilState('notes', 'available');
  expect(await gateway.call('notes', 'echo', { text: 'hi' })).toMatchObject({ status: 200, body: { result: 'hi' } });
  expect(await call()).toMatchObject({ code: 0, stdout: 'hi\n', stderr: '' });
  const tokens = new Set(seen.map(({ headers }) => headers.authorization?.replace('Bearer ', '')));
  for (const token of tokens) if (token !== undefined) expect(gateway.stderr()).not.toContain(token);

  expect((await home.run('logout', 'notes')).code).toBe(0);
  await gateway.untilState('notes', 'login_required');
  expect((await gateway.call('notes', 'echo', { text: 'hi' })).status).toBe(503);

  await signIn(home, true);
  await gateway.untilState('notes', 'available');
});
