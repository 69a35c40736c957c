import { describe, expect, test } from 'vitest';
import { begin, legacy, modern, modernHeaders, send } from '../support/http-client.ts';
import { serveHttp } from './serve-http.ts';

const VERSION = 'io.modelcontextprotocol/protocolVersion';
const CALL = modern('tools/call', { name: 'answer', arguments: { query: 'q' } });

describe('2025-06-18 and earlier', () => {
  test.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])(
    'accepts the version header %s',
    async (version) => {
      const { post } = await serveHttp();
      expect((await post(legacy('tools/list'), { 'MCP-Protocol-Version': version })).status).toBe(200);
    },
  );

  test.each(['bogus', '2025-12-31', ''])('rejects the version header %j with 400', async (version) => {
    const { post } = await serveHttp();
    const reply = await post(legacy('tools/list', {}, 0), { 'MCP-Protocol-Version': version });
    expect(reply.status).toBe(400);
    expect(reply.message).toMatchObject({ id: 0, error: { code: -32600 } });
    const notified = await post({ jsonrpc: '2.0', method: 'x' }, { 'MCP-Protocol-Version': version });
    expect(notified.status).toBe(400);
  });

  test.each(['bogus', '2026-07-28'])('ignores it for initialize: %s', async (version) => {
    const { post } = await serveHttp();
    const reply = await post(legacy('initialize'), { 'MCP-Protocol-Version': version });
    expect(reply.status).toBe(200);
    expect(reply.message.result?.protocolVersion).toBe('2025-06-18');
  });
});

describe('2026-07-28', () => {
  test.each([
    ['as they are', {}],
    ['with a name in base64', { 'Mcp-Name': '=?base64?YW5zd2Vy?=' }],
    ['with one of a parameter, which is ignored', { 'Mcp-Param-Query': 'something else' }],
  ])('accepts headers that agree with the body, %s', async (_, headers) => {
    const { post } = await serveHttp();
    const reply = await post(CALL, headers);
    expect(reply.status).toBe(200);
    expect(reply.message.result).toMatchObject({ resultType: 'complete', structuredContent: { answer: 'Not Found.' } });
  });

  test.each([
    ['no version header', { 'MCP-Protocol-Version': undefined }],
    ['another version', { 'MCP-Protocol-Version': '2025-06-18' }],
    ['no method', { 'Mcp-Method': undefined }],
    ['another method', { 'Mcp-Method': 'tools/list' }],
    ['no name', { 'Mcp-Name': undefined }],
    ['another name', { 'Mcp-Name': 'answer_quick' }],
    ['the name in capitals', { 'Mcp-Name': 'Answer' }],
    ['the name twice', { 'Mcp-Name': ['answer', 'answer'] }],
  ])('rejects %s with 400 and -32020, and asks no model', async (_, change) => {
    const { url, llmSearch } = await serveHttp();
    const headers = Object.entries({ ...modernHeaders(CALL), ...change }).filter(([, value]) => value !== undefined);
    const { reply } = begin(url, { body: CALL, headers: Object.fromEntries(headers) as Record<string, string> });
    const { status, message } = await reply;
    expect(status).toBe(400);
    expect(message).toMatchObject({ id: 1, error: { code: -32020 } });
    expect(llmSearch.requests).toEqual([]);
  });

  test.each([
    ['no capabilities', { [VERSION]: '2026-07-28' }],
    ['no envelope', {}],
  ])('rejects %s with 400 and -32602', async (_, _meta) => {
    const { url } = await serveHttp();
    const body = { jsonrpc: '2.0', id: 7, method: 'tools/list', params: { _meta } };
    const reply = await send(url, { body, headers: modernHeaders(body) });
    expect(reply.status).toBe(400);
    expect(reply.message).toMatchObject({ id: 7, error: { code: -32602 } });
  });

  test('an unsupported version is reported with the supported ones, before missing headers', async () => {
    const { url } = await serveHttp();
    const body = modern('tools/list', {}, { [VERSION]: '2099-01-01' });
    const expected = { code: -32022, data: { supported: ['2026-07-28'], requested: '2099-01-01' } };
    for (const headers of [{}, { 'MCP-Protocol-Version': '2099-01-01' }]) {
      const reply = await send(url, { body, headers });
      expect(reply.status).toBe(400);
      expect(reply.message.error).toMatchObject(expected);
    }
    const contradicted = await send(url, { body, headers: { 'MCP-Protocol-Version': '2026-07-28' } });
    expect(contradicted.message.error?.code).toBe(-32020);
  });
});

test.each([
  [legacy('resources/list'), 200, { error: { code: -32601 } }],
  [legacy('tools/call', { name: 'answer', arguments: {} }), 200, { error: { code: -32602 } }],
  [modern('resources/list'), 404, { error: { code: -32601 } }],
  [modern('tools/call', { name: 'x' }), 200, { error: { code: -32602 } }],
  [modern('tools/call', { name: 'answer', arguments: {} }), 200, { result: { isError: true } }],
])('errors are in the response, and their status is that of the era: %j gets %i', async (message, status, expected) => {
  const { post } = await serveHttp();
  const reply = await post(message);
  expect(reply.status).toBe(status);
  expect(reply.message).toMatchObject(expected);
});
