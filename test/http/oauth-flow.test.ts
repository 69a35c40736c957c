import { expect, test } from 'vitest';
import { composeTokenVerifier } from '../../src/wiring/oauth.ts';
import { newKey, startAuthorizationServer } from '../support/authorization-server.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { legacy, send } from '../support/http-client.ts';
import { freePort, signIn } from '../support/oauth-client.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { serveHttp } from './serve-http.ts';

const COOLDOWN_MS = 10_000;
const SCOPE = 'mcp:tools';

/** The endpoint with the verifier of production, for tokens of this issuer. */
async function serve(issuer: string, { scopes = [SCOPE] } = {}) {
  const port = await freePort();
  const audience = `http://127.0.0.1:${port}/mcp`;
  // The tokens of the authorization server are of now.
  const clock = new FakeClock(new Date().toISOString());
  const logger = new RecordingLogger();
  const config = {
    issuer,
    audience,
    resource: audience,
    scopes,
    jwksUri: undefined,
    callerClaim: 'sub',
    groupsClaim: undefined,
  };
  const verifier = composeTokenVerifier(config, { clock, logger });
  const { url } = await serveHttp({ clock, http: { port, oauth: { ...config, verifier } } });
  const ping = (token: string) => send(url, { body: legacy('ping'), headers: { Authorization: `Bearer ${token}` } });
  return { url, clock, logger, ping };
}

test('the authorization server can change its key', async () => {
  const [first, second] = await Promise.all([newKey('first'), newKey('second', 'ES256')]);
  const port = await freePort();
  const before = await startAuthorizationServer({ port, keys: [first], scope: SCOPE });
  const { url, clock, ping } = await serve(before.issuer);
  const old = await signIn(url);
  await before.stop();

  await startAuthorizationServer({ port, keys: [second, first], scope: SCOPE });
  await clock.advance(COOLDOWN_MS);
  const current = await signIn(url);
  expect((await current.client.listTools()).tools).not.toEqual([]);
  expect((await ping(old.token)).status).toBe(200);
});

test('while the authorization server is down, tokens with known keys are accepted', async () => {
  const { issuer, stop } = await startAuthorizationServer({ keys: [await newKey('first')], scope: SCOPE });
  const { url, clock, ping } = await serve(issuer);
  const { token } = await signIn(url);
  await stop();
  await clock.advance(11 * 60_000);
  expect((await ping(token)).status).toBe(200);
});

test('an authorization server that starts later is used when it is there', async () => {
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  const { url, clock, logger, ping } = await serve(issuer);
  const reply = await ping('eyJhbGciOiJSUzI1NiJ9.e30.AAAA');
  expect(reply.status).toBe(503);
  expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);

  await startAuthorizationServer({ port, keys: [await newKey('first')], scope: SCOPE });
  await clock.advance(COOLDOWN_MS);
  await signIn(url);
  expect(logger.lines).toEqual([
    expect.stringMatching(/cannot be read/),
    `warn oauth: the keys of ${issuer} were read again`,
  ]);
});

test('a token for another server of the same authorization server is rejected', async () => {
  const { issuer } = await startAuthorizationServer({ keys: [await newKey('first')], scope: SCOPE });
  const ours = await serve(issuer);
  const other = await serve(issuer);
  const { token } = await signIn(other.url);
  expect((await other.ping(token)).status).toBe(200);
  const { status, headers } = await ours.ping(token);
  expect(status).toBe(401);
  expect(headers['www-authenticate']).toContain('error_description="The token is not for this server alone"');
});

test('a token expires', async () => {
  const { issuer } = await startAuthorizationServer({ keys: [await newKey('first')], scope: SCOPE });
  const { url, clock, ping } = await serve(issuer);
  const { token } = await signIn(url);
  await clock.advance(990_000);
  const { status, headers } = await ping(token);
  expect(status).toBe(401);
  expect(headers['www-authenticate']).toContain('error_description="The token has expired"');
});
