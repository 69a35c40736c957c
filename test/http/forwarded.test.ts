import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { legacy, send } from '../support/http-client.ts';
import { serveHttp } from './serve-http.ts';

const HEADERS = [
  ['Forwarded', 'for=203.0.113.7'],
  ['X-Forwarded-For', '203.0.113.7'],
  ['x-forwarded-host', 'mcp.example.com'],
  ['X-Forwarded-Proto', 'https'],
  ['X-Forwarded-Something', ''],
  ['X-Real-IP', '203.0.113.7'],
  ['Via', '1.1 proxy'],
  ['X-Original-Forwarded-For', '203.0.113.7'],
  ['X-Original-Host', 'mcp.example.com'],
  ['X-Original-URL', '/mcp'],
  ['CF-Connecting-IP', '203.0.113.7'],
  ['CF-Ray', '1'],
  ['CDN-Loop', 'cloudflare'],
  ['True-Client-IP', '203.0.113.7'],
  ['X-Client-IP', '203.0.113.7'],
  ['X-Cluster-Client-IP', '203.0.113.7'],
  ['Fastly-Client-IP', '203.0.113.7'],
  ['Fly-Client-IP', '203.0.113.7'],
  ['X-Envoy-External-Address', '203.0.113.7'],
  ['X-Azure-ClientIP', '203.0.113.7'],
  ['X-ARR-SSL', '2048'],
  ['Tailscale-User-Login', 'mallory@example.com'],
] as const;
const DOORS = ['/mcp', '/mcp/call', '/mcp/tools', '/mcp/servers', '/openapi.json', '/metrics', '/', '/any'];

// S23
describe('without tokens, a request that a proxy forwards', () => {
  test.each(HEADERS)('is refused because of %s', async (name, value) => {
    const { url, accessLines, untilLogged } = await serveHttp();
    const reply = await send(url, { body: legacy('ping'), headers: { [name]: value } });
    expect(reply.status).toBe(403);
    expect(reply.message.error?.message).toMatch(/^Forbidden: a proxy or a tunnel forwards .* set MCP_HTTP_TOKEN/);
    await untilLogged(1);
    expect(accessLines).toMatchObject([{ status: 403, reason: 'forwarded by a proxy' }]);
  });

  test.each(DOORS)('is refused at %s, with each method', async (path) => {
    const { at } = await serveHttp({ http: { pageFolder: 'build/page' } });
    const headers = { 'X-Forwarded-For': '203.0.113.7' };
    for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS']) {
      const reply = await send(at(path), { method, headers, ...(method === 'POST' && { body: legacy('ping') }) });
      expect([method, reply.status]).toEqual([method, 403]);
    }
  });

  test('is refused if its HTTP version is 1.0, as that of nginx is by default', async () => {
    const { url } = await serveHttp();
    const { port, host } = new URL(url);
    const socket = connect(Number(port), '127.0.0.1').setEncoding('latin1');
    socket.write(`GET /mcp/tools HTTP/1.0\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1.1 403 /);
    socket.destroy();
  });

  test('may ask whether the process is alive', async () => {
    const { at } = await serveHttp();
    const headers = { 'X-Forwarded-For': '203.0.113.7' };
    for (const path of ['/healthz', '/readyz'])
      expect((await send(at(path), { method: 'GET', headers })).status).toBe(200);
  });
});

// A developer's own proxy, which serves several programs of this machine under prefixes.
describe('without tokens, a request that a proxy forwards for this machine', () => {
  const OWN = { 'X-Forwarded-Host': '127.0.0.1:8080', 'X-Forwarded-Proto': 'http', 'X-Forwarded-Prefix': '/gw' };

  test.each([{}, { 'X-Forwarded-For': '::1' }, { 'X-Forwarded-Host': 'localhost' }, { 'X-Forwarded-Port': '8080' }])(
    'is served (%j)',
    async (more) => {
      const { url } = await serveHttp();
      expect((await send(url, { body: legacy('ping'), headers: { ...OWN, ...more } })).status).toBe(200);
    },
  );

  test.each([
    ...HEADERS.filter(([name]) => !/^X-Forwarded-Proto$/.test(name)),
    ['X-Forwarded-Host', 'localhost.evil.example'],
    ['X-Forwarded-Host', '127.0.0.1, mcp.example.com'],
    ['X-Forwarded-For', '127.0.0.1, 203.0.113.7'],
    ['X-Forwarded-For', ''],
  ] as [string, string][])('is refused because of %s: %s', async (name, value) => {
    const { url } = await serveHttp();
    const own = Object.entries(OWN).filter(([key]) => key.toLowerCase() !== name.toLowerCase());
    const headers = Object.fromEntries([...own, [name, value]]);
    expect((await send(url, { body: legacy('ping'), headers })).status).toBe(403);
  });
});

test('a request that no proxy forwards is served without tokens, whatever else it has', async () => {
  const { url } = await serveHttp();
  const headers = { 'X-Request-Id': 'r', 'X-Client-Name': 'c', 'User-Agent': 'forwarded via proxy', Traceparent: 'x' };
  expect((await send(url, { body: legacy('ping'), headers })).status).toBe(200);
});

test.each(HEADERS)('with tokens, %s changes nothing', async (name, value) => {
  const token = 'alice-token-0123456789';
  const { url } = await serveHttp({ http: { tokens: [{ caller: 'alice', token }] } });
  const headers = { [name]: value, Authorization: `Bearer ${token}` };
  expect((await send(url, { body: legacy('ping'), headers })).status).toBe(200);
  expect((await send(url, { body: legacy('ping'), headers: { [name]: value } })).status).toBe(401);
});
