import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { legacy, send } from '../support/http-client.ts';
import { serveHttp } from './serve-http.ts';

const PING = legacy('ping');
const TOKENS = [
  { caller: 'alice', token: 'alice-token-0123456789' },
  { caller: 'bob', token: 'bob-token-0123456789' },
];
const ALICE = { Authorization: 'Bearer alice-token-0123456789' };

const PAGE = ['mcp.example.com'];

test.each([
  [200, { Host: 'LOCALHOST:80' }, []],
  [200, { Host: '127.0.0.1:3917' }, []],
  [200, { Host: '[::1]:1' }, []],
  [403, { Host: 'localhost.evil.example' }, []],
  [200, { Host: 'mcp.example.com:8443' }, PAGE],
  [403, { Host: 'other.example.com' }, PAGE],
  [200, { Host: '10.1.2.3:8080' }, ['*']],
  [200, { Origin: 'http://localhost:5173' }, []],
  [200, { Origin: 'http://[::1]:8080' }, []],
  [403, { Origin: 'http://localhost.evil.example' }, []],
  [403, { Origin: 'null' }, []],
  [403, { Origin: 'file://localhost' }, []],
  // That of the page of this server at a listed name, also if a proxy ends TLS.
  [200, { Origin: 'http://mcp.example.com:3917', Host: 'mcp.example.com:3917' }, PAGE],
  [200, { Origin: 'https://mcp.example.com', Host: 'mcp.example.com' }, PAGE],
  [403, { Origin: 'http://mcp.example.com:8080', Host: 'mcp.example.com:3917' }, PAGE],
  // Any name could be that of a page that resolves to this machine.
  [403, { Origin: 'http://evil.example', Host: 'evil.example' }, ['*']],
])('%i for %j if the listed hosts are %j', async (status, headers, allowedHosts) => {
  const { post } = await serveHttp({ http: { allowedHosts } });
  expect((await post(PING, headers)).status).toBe(status);
});

test('another Host is rejected with a JSON-RPC error that names it and has no ID', async () => {
  const { post } = await serveHttp();
  const { message } = await post(PING, { Host: 'evil.example:8080' });
  expect(message.error?.code).toBe(-32600);
  expect(message.error?.message).toMatch(/^Forbidden: host "evil\.example" is not allowed; .*MCP_HTTP_ALLOWED_HOSTS/);
  expect(message).not.toHaveProperty('id');
});

test('the address that it listens on is accepted', async () => {
  const { post } = await serveHttp({ http: { host: '127.0.0.2' } });
  expect((await post(PING)).status).toBe(200);
  expect((await post(PING, { Host: '127.0.0.3' })).status).toBe(403);
});

test('a token that is shorter than the address requires is refused, and another one with a reason', async () => {
  const { post, accessLines, untilLogged } = await serveHttp({ http: { tokens: TOKENS, minTokenLength: 22 } });
  expect((await post(PING, ALICE)).status).toBe(200);
  const { status, message } = await post(PING, { Authorization: 'Bearer bob-token-0123456789' });
  expect(status).toBe(401);
  expect(message.error?.message).toMatch(
    /^Unauthorized: the token has fewer than 22 characters, .* openai-responses-mcp token/,
  );
  await untilLogged(2);
  expect(accessLines[1]).toMatchObject({ status: 401, outcome: 'refused', reason: 'token too short' });
});

describe('CORS', () => {
  const http = { allowedOrigins: ['https://chat.example.com'], tokens: TOKENS };
  const Origin = 'https://chat.example.com';

  test.each([
    ['/mcp', 'POST', /Mcp-Method/],
    ['/mcp/call', 'GET,POST', /Authorization.*If-None-Match.*X-Request-Id/],
  ])('a listed origin may ask before %s without the token, and may read the answer', async (path, methods, allowed) => {
    const { at } = await serveHttp({ http });
    const asked = await send(at(path), { method: 'OPTIONS', headers: { Origin } });
    expect(asked.status).toBe(204);
    expect(asked.headers).toMatchObject({
      'access-control-allow-origin': Origin,
      'access-control-allow-methods': methods,
      'access-control-allow-headers': expect.stringMatching(allowed),
      vary: expect.stringContaining('Origin'),
    });
    for (const headers of [{ Origin }, { Origin, ...ALICE }]) {
      expect((await send(at(path), { body: PING, headers })).headers).toMatchObject({
        'access-control-allow-origin': Origin,
        'access-control-expose-headers': 'ETag,RateLimit,RateLimit-Policy,Retry-After,WWW-Authenticate,X-Request-Id',
      });
    }
  });

  test('is not enabled for local pages that are not listed', async () => {
    const { url, post } = await serveHttp();
    const headers = { Origin: 'http://localhost:5173' };
    expect((await post(PING, headers)).headers).not.toHaveProperty('access-control-allow-origin');
    expect((await send(url, { method: 'OPTIONS', headers })).status).toBe(405);
  });
});

describe('tokens', () => {
  test.each([
    [undefined, 'Bearer realm="mcp"'],
    ['Basic YTpi', 'Bearer realm="mcp"'],
    ['Bearer wrong', 'Bearer realm="mcp", error="invalid_token"'],
  ])('rejects the authorization %s with 401', async (authorization, challenge) => {
    const { post } = await serveHttp({ http: { tokens: TOKENS } });
    const reply = await post(PING, authorization === undefined ? {} : { Authorization: authorization });
    expect(reply.status).toBe(401);
    expect(reply.headers['www-authenticate']).toBe(challenge);
    expect(reply.message).toMatchObject({ error: { code: -32600 } });
  });

  test('identify one caller each', async () => {
    const { post, accessLines, untilLogged } = await serveHttp({ http: { tokens: TOKENS } });
    expect((await post(PING, ALICE)).status).toBe(200);
    expect((await post(PING, { Authorization: 'bearer bob-token-0123456789' })).status).toBe(200);
    await untilLogged(2);
    expect(accessLines.map(({ caller }) => caller)).toEqual(['alice', 'bob']);
  });

  // S24
  test.each([
    ['POST', '/mcp'],
    ['DELETE', '/mcp'],
    ['GET', '/mcp/tools'],
    ['GET', '/mcp/servers'],
    ['POST', '/mcp/call'],
    ['POST', '/mcp/tools/openai-responses-mcp/answer'],
    ['POST', '/mcp/servers/files/restart'],
    ['GET', '/openapi.json'],
    ['GET', '/metrics'],
    ['GET', '/nowhere'],
  ])('are required by %s %s, which looks at Host and Origin first', async (method, path) => {
    const { at, llmSearch } = await serveHttp({ http: { tokens: TOKENS } });
    const body = method === 'POST' ? { body: { query: 'q' } } : {};
    const statusOf = async (headers: object) =>
      (await send(at(path), { method, headers: { ...headers }, ...body })).status;
    expect(await statusOf({})).toBe(401);
    expect(await statusOf({ Host: 'evil.example' })).toBe(403);
    expect(await statusOf({ ...ALICE, Origin: 'https://evil.example' })).toBe(403);
    expect(llmSearch.requests).toEqual([]);
    expect(await statusOf(ALICE)).not.toBe(401);
  });
});

describe('what proxies and servers could understand differently', () => {
  const PING_BODY = JSON.stringify(PING);
  /** The status of a request with exactly these first lines. */
  async function statusOf(lines: readonly string[], allowedHosts: readonly string[] = []): Promise<string> {
    const { url } = await serveHttp({ http: { allowedHosts } });
    const socket = connect(Number(new URL(url).port), '127.0.0.1').setEncoding('latin1');
    const rest = ['Content-Type: application/json', 'Connection: close', `Content-Length: ${PING_BODY.length}`];
    socket.write(`${[...lines, ...rest].join('\r\n')}\r\n\r\n${PING_BODY}`);
    return (await text(socket)).slice(9, 12);
  }

  test.each([
    ['more than one header', ['Host: localhost', 'Host: evil.example']],
    ['a user', ['Host: localhost@evil.example']],
    ['two ports', ['Host: evil:80:80']],
  ])('is refused: a Host with %s', async (_, hosts) => {
    for (const allowed of [[], ['*']]) expect(await statusOf(['POST /mcp HTTP/1.1', ...hosts], allowed)).toBe('400');
  });

  test.each([
    ['user info', 'http://user@localhost'],
    ['a tab', 'http://local\thost'],
    ['two values', 'http://localhost, http://localhost'],
  ])('is refused: an origin with %s', async (_, origin) => {
    expect(await statusOf(['POST /mcp HTTP/1.1', 'Host: localhost', `Origin: ${origin}`])).toBe('403');
  });

  test('is refused: more than one token', async () => {
    const { url } = await serveHttp({ http: { tokens: TOKENS } });
    const Authorization = TOKENS.map(({ token }) => `Bearer ${token}`);
    expect((await send(url, { body: PING, headers: { Authorization } })).status).toBe(401);
  });

  test('is accepted: a complete URL as target, as a proxy may send it', async () => {
    expect(await statusOf(['POST http://localhost/mcp?x=1 HTTP/1.1', 'Host: localhost'])).toBe('200');
  });
});
