import { describe, expect, test } from 'vitest';
import { legacy, send } from '../support/http-client.ts';
import { serveHttp } from './serve-http.ts';

const PING = legacy('ping');
const TOKEN = 'alice-token-0123456789';
const TOKENS = [{ caller: 'alice', token: TOKEN }];

/** The access line of one request to a path. */
async function lineOf(
  path: string,
  ask: Parameters<typeof send>[1] = {},
  http: Parameters<typeof serveHttp>[0] = {},
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const { at, accessLines, untilLogged } = await serveHttp(http);
  await send(at(path), { body: PING, ...ask });
  await untilLogged(1);
  return accessLines[0];
}

describe('the access line of a rejected request contains its path and a reason', () => {
  test.each([
    ['a malformed message', '/mcp', { body: '{' }, 400, 'malformed message'],
    ['another host', '/mcp', { headers: { Host: 'evil.example' } }, 403, 'host not allowed'],
    ['another page', '/mcp', { headers: { Origin: 'https://evil.example' } }, 403, 'origin not allowed'],
    ['another path', '/other', {}, 404, 'no such path'],
    ['another method', '/mcp', { method: 'PUT' }, 405, 'method not allowed'],
    ['another type', '/mcp', { headers: { 'Content-Type': 'text/plain' } }, 415, 'content type not accepted'],
  ])('%s', async (_name, path, ask, status, reason) => {
    expect(await lineOf(path, ask)).toMatchObject({ status, path, reason, outcome: 'refused' });
  });

  test.each([
    ['server', { server: 'none', toolName: 'x' }, 'no such server'],
    ['tool', { server: 'openai-responses-mcp', toolName: 'x' }, 'no such tool'],
  ])('an unknown %s', async (_, body, reason) => {
    expect(await lineOf('/mcp/call', { body })).toMatchObject({ status: 404, path: '/mcp/call', reason });
  });

  test('no token', async () => {
    const line = await lineOf('/mcp', {}, { http: { tokens: TOKENS } });
    expect(line).toMatchObject({ status: 401, path: '/mcp', reason: 'no valid token' });
  });

  test('a body that is too large', async () => {
    const line = await lineOf('/mcp', { body: { ...PING, x: 'x'.repeat(2000) } }, { http: { maxBodyBytes: 1024 } });
    expect(line).toMatchObject({ status: 413, reason: 'body too large' });
  });
});

test('the line contains neither the host, nor the query, nor control characters', async () => {
  const line = await lineOf('/a%20b;secret-name?token=secret-query', { headers: { Host: 'secret-host.example' } });
  expect(line).toMatchObject({ path: '/a?b?secret-name' });
  expect(JSON.stringify(line)).not.toMatch(/secret-host|secret-query/);
});

test('a long path is shortened', async () => {
  expect(String((await lineOf(`/${'a'.repeat(500)}`))?.path).length).toBe(100);
});

test.each([
  ['/mcp/tools?server=openai-responses-mcp', '/mcp/tools'],
  ['/metrics', '/metrics'],
  ['/openapi.json', '/openapi.json'],
])('the line of a served GET of %s contains the path %s', async (target, path) => {
  const { at, accessLines, untilLogged } = await serveHttp();
  await send(at(target), { method: 'GET' });
  await untilLogged(1);
  expect(accessLines).toMatchObject([{ verb: 'GET', status: 200, outcome: 'served', path }]);
});

test('the line of a served message contains neither path nor reason', async () => {
  const line = await lineOf('/mcp');
  expect(line).toMatchObject({ status: 200, outcome: 'served' });
  expect(line).not.toHaveProperty('path');
  expect(line).not.toHaveProperty('reason');
});
