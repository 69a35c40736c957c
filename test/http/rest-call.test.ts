import { describe, expect, test } from 'vitest';
import type { ToolServerError } from '../../src/domain/gateway/tool-call-error.ts';
import { type Reply, send } from '../support/http-client.ts';
import {
  failsWith,
  hangs,
  returns,
  ScriptedToolServer,
  says,
  type ToolScript,
} from '../support/scripted-tool-server.ts';
import { until } from '../support/until.ts';
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
  test.each([
    ['structured content', { content: [], structuredContent: { a: 1 } }, { result: { a: 1 } }],
    ['an image', { content: [image] }, { result: null, content: [image] }],
  ])('with %s is returned with success', async (_, result, expected) => {
    const { read, files } = await serveTool(returns(result));
    const reply = await read({ input: { path: 'a' } });
    expect(reply.status).toBe(200);
    expect(reply.headers['content-type']).toBe('application/json');
    expect(json(reply)).toEqual({ success: true, ...expected });
    expect(files.calls).toMatchObject([{ tool: 'read', args: { path: 'a' } }]);
  });

  test('is the only body on the route of the tool', async () => {
    const structured = await serveTool(returns({ content: [], structuredContent: { a: 1 } }));
    const reply = await structured.post({ path: 'a' });
    expect(reply).toMatchObject({ status: 200, text: '{"a":1}' });
    expect(structured.files.calls).toMatchObject([{ tool: 'read', args: { path: 'a' } }]);
    const text = await serveTool(says('Hello.'));
    expect(await text.post({})).toMatchObject({ status: 200, text: '"Hello."' });
    // Without a plain value nothing is lost.
    const picture = await serveTool(returns({ content: [image] }));
    expect(json(await picture.post({}))).toEqual([image]);
  });

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

describe('an error of the server', () => {
  test.each<readonly [ToolServerError, number, string, object]>([
    [
      { kind: 'json_rpc', code: -32602, message: 'Invalid params: weight_kg must be positive', data: { field: 'w' } },
      400,
      'VALIDATION_ERROR',
      { jsonrpcCode: -32602, field: 'w' },
    ],
    [{ kind: 'crashed', reason: 'x' }, 502, 'SERVER_CRASHED', {}],
  ])('%j', async (error, status, code, details) => {
    const { read, post } = await serveTool(failsWith(error));
    for (const reply of [await read({}, { 'X-Request-Id': 'r-1' }), await post({}, { 'X-Request-Id': 'r-1' })]) {
      expect(reply.status).toBe(status);
      expect(json(reply)).toEqual({
        success: false,
        error: { code, message: expect.stringMatching(/./), details: { ...details, requestId: 'r-1' } },
      });
    }
  });

  test('does not show the secrets of the server, unlike a result', async () => {
    const serverSecrets = ['hunter2-hunter2'];
    const data = { token: 'hunter2-hunter2' };
    const error = { kind: 'json_rpc', code: 7, message: 'no hunter2-hunter2', data } as const;
    const failed = await serveTool(failsWith(error), { serverSecrets });
    expect(json(await failed.read())).toMatchObject({
      error: { message: 'no [redacted]', details: { token: '[redacted]' } },
    });
    const content = [{ type: 'text', text: 'no hunter2-hunter2' }];
    const { read } = await serveTool(returns({ content, isError: true }), { serverSecrets });
    expect(json(await read())).toMatchObject({ error: { message: 'no hunter2-hunter2' }, content });
  });

  test('cannot replace the ID of the request', async () => {
    const { read } = await serveTool(
      failsWith({ kind: 'json_rpc', code: 1, message: 'x', data: { requestId: 'theirs', jsonrpcCode: 2 } }),
    );
    expect(json(await read({}, { 'X-Request-Id': 'ours' }))).toMatchObject({
      error: { details: { requestId: 'ours', jsonrpcCode: 1 } },
    });
  });
});

describe('the checks', () => {
  test.each<readonly [string, unknown, readonly string[]]>([
    ['not an object', [], ['']],
    ['null', null, ['']],
    ['an empty object', {}, ['/server', '/toolName']],
    ['an unknown key', { server: 's', toolName: 't', args: {} }, ['/args']],
    [
      'wrong types',
      { server: 1, toolName: null, input: [], timeout: '5' },
      ['/server', '/toolName', '/input', '/timeout'],
    ],
    ['input null', { server: 's', toolName: 't', input: null }, ['/input']],
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

  test.each(['', '{', 'nonsense'])('a body that is not JSON: %j', async (body) => {
    const { at } = await serveTool(hangs);
    for (const path of ['/mcp/call', '/mcp/tools/files/read']) {
      const reply = await send(at(path), { body, headers: { 'Content-Type': 'application/json' } });
      expect(reply.status).toBe(400);
      expect(json(reply)).toMatchObject({ success: false, error: { code: 'VALIDATION_ERROR' } });
    }
  });

  test('an input that is not an object on the route of the tool', async () => {
    const { post } = await serveTool(hangs);
    const reply = await post('[1]', { 'Content-Type': 'application/json' });
    expect(reply.status).toBe(400);
    expect(json(reply)).toMatchObject({
      error: { code: 'VALIDATION_ERROR', message: 'the body must be an object: the input of the tool' },
    });
  });

  test('an input that does not match: the first problem, and no call', async () => {
    const { read, post, files } = await serveTool(hangs, {}, { inputSchema: INPUT_SCHEMA });
    const errors = [{ path: '/mode', message: 'is not allowed' }];
    for (const reply of [await read({ input: { mode: 1 } }), await post({ mode: 1 })]) {
      expect(reply.status).toBe(400);
      expect(json(reply)).toMatchObject({
        error: {
          code: 'VALIDATION_ERROR',
          message: "The input does not match the tool's schema: /mode is not allowed.",
          details: { errors },
        },
      });
    }
    expect((await read()).status).toBe(400);
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

describe('a server that is not available', () => {
  test('gives 503, with Retry-After if a restart is scheduled', async () => {
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
});

test('a time limit of the call that is shorter than that of its server applies', async () => {
  const { beginCall, files, clock } = await serveTool(hangs);
  const call = beginCall({ server: 'files', toolName: 'read', timeout: 1000 });
  await until(() => files.calls.length === 1);
  await clock.advance(999);
  expect(files.calls[0]?.signal.aborted).toBe(false);
  await clock.advance(1);
  const reply = await call.reply;
  expect(reply.status).toBe(504);
  expect(json(reply)).toMatchObject({ error: { code: 'TIMEOUT_ERROR', details: { timeoutMs: 1000 } } });
  // The server is notified.
  expect(files.calls[0]?.signal.aborted).toBe(true);
});
