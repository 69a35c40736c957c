import { describe, expect, test } from 'vitest';
import type { TokenError } from '../../src/application/ports/callers.ts';
import { FakeTokenVerifier } from '../support/fake-token-verifier.ts';
import { legacy, send } from '../support/http-client.ts';
import { type ServeHttpOptions, serveHttp } from './serve-http.ts';

const PING = legacy('ping');
const ISSUER = 'https://auth.example.com';
const RESOURCE = 'https://mcp.example.com/mcp';
const METADATA = 'https://mcp.example.com/.well-known/oauth-protected-resource/mcp';
const STATIC = { caller: 'alice', token: 'static-token-of-alice' };
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

const ERRORS: Readonly<Record<string, TokenError>> = {
  expired: { kind: 'invalid_token', problem: 'expired' },
  narrow: { kind: 'insufficient_scope' },
  unknowable: { kind: 'issuer_unavailable', retryAfterMs: 6500 },
};

async function serve(
  given: { readonly scopes?: readonly string[]; readonly resource?: string } = {},
  http: ServeHttpOptions['http'] = {},
) {
  const verifier = new FakeTokenVerifier({ good: { caller: 'oauth:alice' }, ...ERRORS });
  const oauth = { issuer: ISSUER, resource: RESOURCE, scopes: ['ask', 'read'], verifier, ...given };
  return { ...(await serveHttp({ http: { ...http, oauth } })), verifier };
}

describe('the metadata of the resource', () => {
  test('is available without a token, for any Host and Origin', async () => {
    const { at } = await serve();
    for (const path of ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp']) {
      const headers = { Host: 'evil.example', Origin: 'https://evil.example' };
      const { status, text, headers: received } = await send(at(path), { method: 'GET', headers });
      expect(status).toBe(200);
      expect(received).toMatchObject({ 'content-type': 'application/json', 'access-control-allow-origin': '*' });
      expect(JSON.parse(text)).toEqual({
        resource: RESOURCE,
        authorization_servers: [ISSUER],
        scopes_supported: ['ask', 'read'],
        bearer_methods_supported: ['header'],
      });
    }
  });

  test('can be read by clients in a browser, and not be changed', async () => {
    const { at } = await serve();
    const url = at('/.well-known/oauth-protected-resource');
    const asked = await send(url, { method: 'OPTIONS' });
    expect(asked.status).toBe(204);
    expect(asked.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-headers': 'MCP-Protocol-Version',
    });
    const { status, headers } = await send(url, { body: {} });
    expect({ status, allow: headers.allow }).toEqual({ status: 405, allow: 'GET, HEAD, OPTIONS' });
  });

  test('does not exist without an authorization server', async () => {
    const { at } = await serveHttp();
    expect((await send(at('/.well-known/oauth-protected-resource'), { method: 'GET' })).status).toBe(404);
  });
});

describe('a request', () => {
  test('without a token is told where to get one, also on loopback', async () => {
    const { post } = await serve();
    const { status, headers, message } = await post(PING, { Host: 'localhost' });
    expect(status).toBe(401);
    expect(headers['www-authenticate']).toBe(`Bearer scope="ask read", resource_metadata="${METADATA}"`);
    expect(message.error?.message).toBe(`Unauthorized: send a token from ${ISSUER} (Authorization: Bearer ...)`);
  });

  test.each([
    ['https://mcp.example.com/', 'https://mcp.example.com/.well-known/oauth-protected-resource'],
    ['https://example.com:8443/a/b', 'https://example.com:8443/.well-known/oauth-protected-resource/a/b'],
  ])('to the public URL %s is sent to %s, whatever Host it names', async (resource, metadata) => {
    const { post, at } = await serve({ resource, scopes: [] }, { allowedHosts: ['*'] });
    const { headers } = await post(PING, { Host: 'evil.example', 'X-Forwarded-Host': 'evil.example' });
    expect(headers['www-authenticate']).toBe(`Bearer resource_metadata="${metadata}"`);
    expect((await send(at(new URL(metadata).pathname), { method: 'GET' })).status).toBe(200);
    expect((await send(at('/.well-known/oauth-protected-resource/mcp'), { method: 'GET' })).status).toBe(401);
  });

  test.each([
    [
      'expired',
      { status: 401, code: 'UNAUTHORIZED', reason: 'token: expired' },
      `Unauthorized: the token has expired; get a new one from ${ISSUER}`,
      {
        'www-authenticate': `Bearer error="invalid_token", error_description="The token has expired", scope="ask read", resource_metadata="${METADATA}"`,
      },
    ],
    [
      'narrow',
      { status: 403, code: 'FORBIDDEN', reason: 'token: insufficient_scope' },
      'Forbidden: the token needs the scopes ask read; authorize again with these scopes',
      {
        'www-authenticate': `Bearer error="insufficient_scope", scope="ask read", resource_metadata="${METADATA}"`,
      },
    ],
    [
      'unknowable',
      { status: 503, code: 'ISSUER_UNAVAILABLE', reason: 'issuer unavailable' },
      `Service Unavailable: the token cannot be checked, because the keys of ${ISSUER} cannot be read; try again later`,
      { 'retry-after': '7' },
    ],
  ])('with the token %j gets %j over MCP and REST', async (token, { status, code, reason }, message, headers) => {
    const { post, at, accessLines, untilLogged } = await serve();
    const mcp = await post(PING, bearer(token));
    const rest = await send(at('/mcp/tools'), { method: 'GET', headers: bearer(token) });
    expect(mcp.message.error?.message).toBe(message);
    expect(JSON.parse(rest.text)).toMatchObject({ error: { code, message } });
    for (const reply of [mcp, rest]) {
      expect(reply.status).toBe(status);
      const { 'www-authenticate': challenge, 'retry-after': retryAfter } = reply.headers;
      expect({ 'www-authenticate': challenge, 'retry-after': retryAfter }).toEqual(headers);
    }
    await untilLogged(2);
    expect(accessLines).toMatchObject([
      { status, reason },
      { status, reason },
    ]);
    expect(accessLines[0]).not.toHaveProperty('caller');
  });

  test.each([
    ['in the query', '/mcp?access_token=good', {}],
    ['with another scheme', '/mcp', { Authorization: 'Basic good' }],
  ])('with a token %s is not served', async (_, path, headers) => {
    const { at, verifier } = await serve();
    expect((await send(at(path), { body: PING, headers })).status).toBe(401);
    expect(verifier.asked).toEqual([]);
  });
});

test('the OpenAPI document requires a token', async () => {
  const { at } = await serve();
  const { text } = await send(at('/openapi.json'), { method: 'GET', headers: bearer('good') });
  expect(JSON.parse(text)).toMatchObject({ security: [{ bearer: [] }] });
});

test('static tokens are accepted too, and are never given to the verifier', async () => {
  const { post, verifier, accessLines, untilLogged } = await serve({}, { tokens: [STATIC] });
  expect((await post(PING, bearer(STATIC.token))).status).toBe(200);
  expect(verifier.asked).toEqual([]);
  expect((await post(PING, bearer('good'))).status).toBe(200);
  expect((await post(PING, bearer('other'))).status).toBe(401);
  await untilLogged(3);
  expect(accessLines.map(({ caller }) => caller)).toEqual(['alice', 'oauth:alice', undefined]);
});
