import { expect, test } from 'vitest';
import { type Ask, legacy, send } from '../support/http-client.ts';
import { serveHttp } from './serve-http.ts';

const PING = legacy('ping');
const TOKENS = [{ caller: 'alice', token: 'alice-token-0123456789' }];

test.each<[string, string, Ask, Parameters<typeof serveHttp>[0], number, string]>([
  ['a malformed message', '/mcp', { body: '{' }, {}, 400, 'malformed message'],
  ['no token', '/mcp', {}, { http: { tokens: TOKENS } }, 401, 'no valid token'],
  ['another host', '/mcp', { headers: { Host: 'evil.example' } }, {}, 403, 'host not allowed'],
  ['another page', '/mcp', { headers: { Origin: 'https://evil.example' } }, {}, 403, 'origin not allowed'],
  ['another path', '/other', {}, {}, 404, 'no such path'],
  ['an unknown server', '/mcp/call', { body: { server: 'none', toolName: 'x' } }, {}, 404, 'no such server'],
  [
    'an unknown tool',
    '/mcp/call',
    { body: { server: 'openai-responses-mcp', toolName: 'x' } },
    {},
    404,
    'no such tool',
  ],
  ['another method', '/mcp', { method: 'PUT' }, {}, 405, 'method not allowed'],
  ['a body that is too large', '/mcp', {}, { http: { maxBodyBytes: 8 } }, 413, 'body too large'],
  ['another type', '/mcp', { headers: { 'Content-Type': 'text/plain' } }, {}, 415, 'content type not accepted'],
])('the access line of %s has its path and a reason', async (_, path, ask, options, status, reason) => {
  const { at, accessLines, untilLogged } = await serveHttp(options);
  await send(at(path), { body: PING, ...ask });
  await untilLogged(1);
  expect(accessLines).toMatchObject([{ status, path, reason, outcome: 'refused' }]);
});

test('the line contains neither the host nor the query', async () => {
  const { at, accessLines, untilLogged } = await serveHttp();
  await send(at('/a?token=secret-query'), { body: PING, headers: { Host: 'secret-host.example' } });
  await untilLogged(1);
  expect(JSON.stringify(accessLines)).not.toMatch(/secret-host|secret-query/);
});

test('the line of a served GET has its path, and that of a message has its method', async () => {
  const { at, post, accessLines, untilLogged } = await serveHttp();
  await send(at('/mcp/tools?server=openai-responses-mcp'), { method: 'GET' });
  // Probes have no line.
  await send(at('/healthz'), { method: 'GET' });
  await post(PING);
  await untilLogged(2);
  const always = { time: '2026-01-05T03:00:00.000Z', caller: 'local', status: 200, outcome: 'served', ms: 0 };
  expect(accessLines).toEqual([
    { ...always, verb: 'GET', path: '/mcp/tools' },
    { ...always, verb: 'POST', method: 'ping' },
  ]);
});
