import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/domain/values/json.ts';
import { type Reply, send } from '../support/http-client.ts';
import {
  failsWith,
  hangs,
  returns,
  ScriptedToolServer,
  says,
  type ToolScript,
} from '../support/scripted-tool-server.ts';
import { type ServeGatewayOptions, serveGateway } from './serve-gateway.ts';

const INPUT_SCHEMA = {
  type: 'object',
  properties: { path: { type: 'string' } },
  required: ['path'],
  additionalProperties: false,
};
const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' };

const json = ({ text }: Reply) => JSON.parse(text) as Record<string, unknown>;

/** A gateway with one tool, `read` of the server `files`. */
async function serveTool(script: ToolScript, options: ServeGatewayOptions = {}, described: object = {}) {
  const server = new ScriptedToolServer({ read: { script, ...described } });
  const served = await serveGateway({ files: server }, options);
  const read = (body: object = {}, headers = {}) =>
    served.call({ server: 'files', toolName: 'read', ...body }, headers);
  const post = (body: unknown, headers = {}) =>
    send(served.at('/mcp/tools/files/read'), { body: body as object, headers });
  return { ...served, files: server, read, post };
}

describe('a result', () => {
  test.each<[string, JsonObject, JsonObject, unknown]>([
    ['structured content', { structuredContent: { a: 1 } }, { result: { a: 1 } }, { a: 1 }],
    ['a text', { content: [{ type: 'text', text: 'Hello.' }] }, { result: 'Hello.' }, 'Hello.'],
    // Without a plain value nothing is lost.
    ['an image', { content: [image] }, { result: null, content: [image] }, [image]],
  ])(
    'with %s is returned with success, and is the only body on the route of the tool',
    async (_, result, expected, only) => {
      const { read, post, files } = await serveTool(returns({ content: [], ...result }));
      const reply = await read({ input: { path: 'a' } });
      expect(reply.status).toBe(200);
      expect(reply.headers['content-type']).toBe('application/json');
      expect(json(reply)).toEqual({ success: true, ...expected });
      expect(await post({ path: 'a' })).toMatchObject({ status: 200, text: JSON.stringify(only) });
      for (const call of files.calls) expect(call).toMatchObject({ tool: 'read', args: { path: 'a' } });
    },
  );

  // S58
  test('that is an error is an answer: 200, and 422 on the route of the tool', async () => {
    const content = [{ type: 'text', text: 'No such file.' }, image];
    const { read, post } = await serveTool(returns({ content, structuredContent: { code: 1 }, isError: true }));
    const body = {
      success: false,
      error: {
        code: 'TOOL_EXECUTION_ERROR',
        message: 'No such file.',
        details: { requestId: expect.stringMatching(/^[\w.-]+$/) },
      },
      content,
      structuredContent: { code: 1 },
    };
    const reply = await read();
    expect(reply.status).toBe(200);
    expect(json(reply)).toEqual(body);
    const onRoute = await post({});
    expect(onRoute.status).toBe(422);
    expect(json(onRoute)).toEqual(body);
  });
});

test('an error of the server has its data, and cannot replace the ID of the request', async () => {
  const data = { field: 'x', requestId: 'theirs', jsonrpcCode: 2 };
  const message = 'Invalid params: x';
  const { read, post } = await serveTool(failsWith({ kind: 'json_rpc', code: -32602, message, data }));
  for (const reply of [await read({}, { 'X-Request-Id': 'r-1' }), await post({}, { 'X-Request-Id': 'r-1' })]) {
    expect(reply.status).toBe(400);
    const details = { field: 'x', requestId: 'r-1', jsonrpcCode: -32602 };
    expect(json(reply)).toEqual({ success: false, error: { code: 'VALIDATION_ERROR', message, details } });
  }
});

describe('the checks', () => {
  test.each<readonly [string, unknown, readonly string[]]>([
    ['not an object', [], ['']],
    ['an empty object', {}, ['/server', '/toolName']],
    ['an unknown key', { server: 's', toolName: 't', args: {} }, ['/args']],
    [
      'wrong types',
      { server: 1, toolName: null, input: [], timeout: '5' },
      ['/server', '/toolName', '/input', '/timeout'],
    ],
    ['a timeout of 0', { server: 's', toolName: 't', timeout: 0 }, ['/timeout']],
    ['a timeout that is not an integer', { server: 's', toolName: 't', timeout: 1.5 }, ['/timeout']],
  ])('a body that is %s', async (_, body, paths) => {
    const { call } = await serveTool(hangs);
    const reply = await call(JSON.stringify(body));
    expect(reply.status).toBe(400);
    const { error } = json(reply) as { error: { code: string; message: string; details: { errors: object[] } } };
    expect(error.code).toBe('VALIDATION_ERROR');
    expect(error.details.errors).toEqual(paths.map((path) => ({ path, message: expect.stringMatching(/./) })));
  });

  test.each([
    ['{', 'Parse error: the body is not valid JSON'],
    ['[1]', 'the body must be an object: the input of the tool'],
  ])('a body %s on the route of the tool', async (body, message) => {
    const { post } = await serveTool(hangs);
    const reply = await post(body);
    expect(reply.status).toBe(400);
    expect(json(reply)).toMatchObject({ success: false, error: { code: 'VALIDATION_ERROR', message } });
  });

  test('an input that does not match: the first problem, and no call', async () => {
    const { read, files } = await serveTool(hangs, {}, { inputSchema: INPUT_SCHEMA });
    const reply = await read({ input: { path: 1 } });
    expect(reply.status).toBe(400);
    expect(json(reply)).toMatchObject({
      error: {
        code: 'VALIDATION_ERROR',
        message: "The input does not match the tool's schema: /path must be string.",
        details: { errors: [{ path: '/path', message: 'must be string' }] },
      },
    });
    expect(files.calls).toEqual([]);
  });

  test('run in order: body, server, availability, tool, input', async () => {
    const up = new ScriptedToolServer({ read: { script: hangs, inputSchema: INPUT_SCHEMA } });
    const down = new ScriptedToolServer({}, 'no such command');
    const definitions = { down: { restart: 'never' as const } };
    const { call } = await serveGateway({ up, down }, { definitions });
    const wrong = { toolName: 'none', input: {} };
    const codeOf = async (body: object) => {
      const reply = await call(body);
      return [reply.status, (json(reply) as { error: { code: string } }).error.code];
    };
    expect(await codeOf({ ...wrong, server: 'none', input: 1 })).toEqual([400, 'VALIDATION_ERROR']);
    expect(await codeOf({ ...wrong, server: 'none' })).toEqual([404, 'SERVER_NOT_FOUND']);
    expect(await codeOf({ ...wrong, server: 'down' })).toEqual([503, 'SERVER_NOT_RUNNING']);
    expect(await codeOf({ ...wrong, server: 'up' })).toEqual([404, 'TOOL_NOT_FOUND']);
    expect(await codeOf({ server: 'up', toolName: 'read' })).toEqual([400, 'VALIDATION_ERROR']);
  });
});

test('a server that is not available gives 503, with Retry-After if a restart is scheduled', async () => {
  const server = new ScriptedToolServer({ read: says('a') }, 'one', 'two');
  const { call, clock } = await serveGateway({ files: server });
  const read = { server: 'files', toolName: 'read' };
  const first = await call(read);
  expect(first.status).toBe(503);
  expect(first.headers['retry-after']).toBe('1');
  expect(json(first)).toMatchObject({
    error: { code: 'SERVER_NOT_RUNNING', details: { server: 'files', state: 'unavailable' } },
  });
  await clock.advance(1000);
  await clock.advance(500);
  // Of the 2 s until the next start, 1.5 s are left.
  expect((await call(read)).headers['retry-after']).toBe('2');
  await clock.advance(1500);
  expect((await call(read)).status).toBe(200);
});
