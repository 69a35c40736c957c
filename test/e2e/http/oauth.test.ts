import { expect, test } from 'vitest';
import { newKey, startAuthorizationServer } from '../../support/authorization-server.ts';
import { freePort } from '../../support/free-port.ts';
import { legacy, send } from '../../support/http-client.ts';
import { startHttpProcess } from '../../support/http-process.ts';
import { signIn } from '../../support/oauth-client.ts';
import { newFile } from '../files.ts';

const config = (address: string, issuer: string) =>
  newFile(
    'config.yaml',
    `http:
  listen: ${address}
  oauth:
    issuer: ${issuer}
    audience: http://${address}/mcp
    scopes: [mcp:tools]
`,
  );

test('an official client finds the authorization server, gets a token and uses the tools', async () => {
  const { issuer } = await startAuthorizationServer({ keys: [await newKey('first')], scope: 'mcp:tools' });
  const file = config(`127.0.0.1:${await freePort()}`, issuer);
  const { url, stderr } = await startHttpProcess({ args: ['--http', '--offline', '--config', file] });

  await expect.poll(async () => (await send(new URL('/readyz', url).href, { method: 'GET' })).status).toBe(200);
  const { client, authorizationUrl, token } = await signIn(url);
  expect(authorizationUrl.origin).toBe(issuer);
  expect(Object.fromEntries(authorizationUrl.searchParams)).toMatchObject({
    resource: url,
    scope: 'mcp:tools',
    code_challenge_method: 'S256',
  });
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('answer');
  const answer = await client.callTool({ name: 'answer', arguments: { query: 'What does HTTP 404 mean?' } });
  expect(answer.isError).not.toBe(true);

  const [header = '', payload = '', signature = ''] = token.split('.');
  expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).toMatchObject({
    iss: issuer,
    aud: url,
    sub: 'alice',
  });
  const forged = Buffer.from(payload, 'base64url').toString().replace('alice', 'admin');
  const Authorization = `Bearer ${header}.${Buffer.from(forged).toString('base64url')}.${signature}`;
  expect((await send(url, { body: legacy('ping'), headers: { Authorization } })).status).toBe(401);
  await expect.poll(stderr).toContain('"caller":"oauth:alice"');
  for (const part of [header, payload, signature]) expect(stderr()).not.toContain(part);
});

test('an issuer that cannot be used is reported at the start', async () => {
  const file = config('127.0.0.1:0', 'http://127.0.0.1:1');
  const { url, stderr } = await startHttpProcess({ args: ['--http', '--offline', '--config', file] });
  const readiness = new URL('/readyz', url).href;
  expect(await send(readiness, { method: 'GET' })).toMatchObject({
    status: 503,
    text: '{"ok":false,"why":"issuer keys not read"}',
  });
  const headers = { Authorization: 'Bearer eyJhbGciOiJSUzI1NiJ9.e30.AAAA' };
  expect((await send(url, { body: legacy('ping'), headers })).status).toBe(503);
  await expect
    .poll(stderr)
    .toContain('oauth: the keys of http://127.0.0.1:1 cannot be read: http://127.0.0.1:1/.well-known/');
});
