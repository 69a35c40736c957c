import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { answers, holds } from '../support/behaviours.ts';
import { ROOT, serve, serveWithApi } from './serve.ts';

const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { version: string };

/** At least this; `capabilities` contain exactly this. */
const INITIALIZED = {
  protocolVersion: '2025-06-18',
  capabilities: { tools: {} },
  serverInfo: { name: 'openai-responses-mcp', version },
};

test('initialize returns 2025-06-18, and may be called again without params', async () => {
  const server = serve();
  const first = await server.initialize({ protocolVersion: '2025-11-25' });
  expect(first).toMatchObject({ jsonrpc: '2.0', id: 1, result: INITIALIZED });
  const again = await server.request('initialize');
  expect(again.result).toMatchObject(INITIALIZED);
});

test('lists the three tools as in the contract', async () => {
  const server = serve();
  const { result } = await server.request('tools/list', {});
  const withoutDescriptions = (schema: { properties: Record<string, Record<string, unknown>> }) => ({
    ...schema,
    properties: Object.fromEntries(
      Object.entries(schema.properties).map(([name, { description, ...rest }]) => {
        expect(description).toEqual(expect.stringMatching(/\S/));
        return [name, rest];
      }),
    ),
  });
  const tools = result?.tools as { name: string; description: string; inputSchema: never }[];
  const searchSchema = {
    type: 'object',
    properties: {
      query: { type: 'string' },
      recency_days: { type: 'number' },
      max_results: { type: 'number' },
      domains: { type: 'array', items: { type: 'string' } },
    },
    required: ['query'],
  };
  expect(
    tools.map(({ name, description, inputSchema }) => ({
      name,
      description,
      inputSchema: withoutDescriptions(inputSchema),
    })),
  ).toEqual([
    {
      name: 'answer',
      description:
        'Search the web when needed and provide balanced, well-sourced answers. This is the standard general-purpose tool.',
      inputSchema: searchSchema,
    },
    {
      name: 'answer_detailed',
      description:
        'Perform comprehensive analysis with thorough research and detailed explanations. Best for complex questions requiring deep investigation.',
      inputSchema: searchSchema,
    },
    {
      name: 'answer_quick',
      description: 'Provide fast, concise answers optimized for speed. Best for simple lookups or urgent questions.',
      inputSchema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
    },
  ]);
});

test('answers ping and tools/list before initialize', async () => {
  const server = serve();
  expect(await server.request('ping')).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
  expect((await server.request('tools/list')).result?.tools).toHaveLength(3);
});

test('does not answer notifications, known or not, and unexpected responses', async () => {
  const server = serve();
  for (const method of ['notifications/initialized', 'notifications/cancelled', 'notifications/future', 'ping']) {
    server.notify(method, {});
  }
  server.send({ jsonrpc: '2.0', id: 7, result: {} });
  server.send({ jsonrpc: '2.0', id: 8, error: { code: -1, message: 'stray' } });
  await server.request('ping', {}, 9);
  expect(server.messages).toEqual([{ jsonrpc: '2.0', id: 9, result: {} }]);
});

test('echoes the id', async () => {
  const server = serve();
  expect(await server.request('ping', {}, '日本語 🌤')).toEqual({ jsonrpc: '2.0', id: '日本語 🌤', result: {} });
});

const refused: readonly (readonly [what: string, line: string, answer: object])[] = [
  ['a line that is not JSON', 'hello', { error: { code: -32700 } }],
  ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', { error: { code: -32600 } }],
  ['a message without jsonrpc', '{"id":1,"method":"ping"}', { id: 1, error: { code: -32600 } }],
  ['params in a list', '{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', { id: 1, error: { code: -32602 } }],
  ['an unknown method', '{"jsonrpc":"2.0","id":1,"method":"resources/list"}', { id: 1, error: { code: -32601 } }],
  [
    'an unknown tool',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"toString"}}',
    { id: 1, error: { code: -32601, message: 'Unknown tool' } },
  ],
];

test.for(refused)('rejects %s, and reads the next message', async ([, line, answer]) => {
  const server = serve();
  server.sendRaw(`${line}\n`);
  await server.request('ping', {}, 99);
  const [refusal, pong, ...rest] = server.messages;
  expect(refusal).toMatchObject({ jsonrpc: '2.0', ...answer });
  expect(refusal?.error?.message).toMatch(/\S/);
  // MCP's schemas reject null: an id that could not be read is omitted.
  expect(Object.hasOwn(refusal ?? {}, 'id')).toBe(Object.hasOwn(answer, 'id'));
  expect(pong).toEqual({ jsonrpc: '2.0', id: 99, result: {} });
  expect(rest).toEqual([]);
  expect(server.junk).toEqual([]);
});

test('rejects a request whose id is in flight, and the first continues', async () => {
  const { api, server } = await serveWithApi();
  const held = holds();
  api.replyAlways(held);
  const first = server.callTool('answer', { query: 'first' }, undefined, 5);
  await api.waitForRequests(1);
  server.send({ jsonrpc: '2.0', id: 5, method: 'ping' });
  expect(await server.waitFor(({ id }) => id === 5)).toMatchObject({ id: 5, error: { code: -32600 } });

  server.send({
    jsonrpc: '2.0',
    id: 5,
    method: 'tools/call',
    params: { name: 'answer', arguments: { query: 'twin' } },
  });
  const twin = server.request('ping', {}, '5');
  expect(await twin).toEqual({ jsonrpc: '2.0', id: '5', result: {} });
  held.release(answers('The first answer.'));
  // `first` was settled by the rejection, which has the same id.
  await first;
  const answered = await server.waitFor(({ id, result }) => id === 5 && result !== undefined);
  expect(answered.error).toBeUndefined();
  expect(api.requests).toHaveLength(1);
});

test('1 and "1" are different requests', async () => {
  const { api, server } = await serveWithApi();
  const held = holds();
  api.replyAlways(held);
  const number = server.callTool('answer', { query: 'number' }, undefined, 1);
  const text = server.callTool('answer', { query: 'text' }, undefined, '1');
  await api.waitForRequests(2);
  server.notify('notifications/cancelled', { requestId: '1' });
  await api.until(() => api.requests.filter(({ aborted }) => aborted).length === 1);
  held.release(answers('An answer.'));
  expect((await number).id).toBe(1);
  await expect(Promise.race([text, server.request('ping', {}, 'p')])).resolves.toMatchObject({ id: 'p' });
  expect(String(api.requests.find(({ aborted }) => aborted)?.body.input)).toMatch(/^text/);
});

test('a key of digits does not damage a response that contains the same number', async () => {
  const server = serve({ env: { OPENAI_API_KEY: '12345678' } });
  expect(await server.request('ping', {}, 12_345_678)).toEqual({ jsonrpc: '2.0', id: 12_345_678, result: {} });
  expect(await server.request('ping', {}, '12345679')).toEqual({ jsonrpc: '2.0', id: '12345679', result: {} });
  expect(server.junk).toEqual([]);
});
