import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import {
  type Answer,
  type RemoteServer,
  startModernServer,
  startSessionServer,
} from '../../support/servers/remote-servers.ts';
import { type GatewayProcess, startGatewayProcess } from './serve-gateway.ts';

const EVENTS = { 'Content-Type': 'text/event-stream' };
const JSON_TYPE = { 'Content-Type': 'application/json' };
const CHUNK = Buffer.alloc(1_000_000, 'x');

async function serve(remote: RemoteServer, more: object = {}): Promise<GatewayProcess> {
  const gateway = await startGatewayProcess([{ name: 'remote', url: remote.url, ...more }]);
  await gateway.untilState('remote', 'available');
  return gateway;
}

const result = (id: unknown, text = 'done') => ({
  jsonrpc: '2.0',
  id,
  result: { resultType: 'complete', content: [{ type: 'text', text }] },
});

/** The server is as it was: it has its connection, its session, and answers. */
async function expectUnharmed(gateway: GatewayProcess, remote: RemoteServer) {
  expect((await gateway.call('remote', 'echo', { text: 'still here' })).body).toMatchObject({ result: 'still here' });
  expect(await gateway.untilState('remote', 'available')).toMatchObject({ restarts: 0 });
  expect(remote.seen.filter(({ method }) => method === 'initialize').length).toBeLessThan(2);
}

describe('an answer on an event stream', () => {
  test('may come later, on a stream that continues the first', async () => {
    const remote = await startSessionServer();
    const gateway = await serve(remote);
    let asked: unknown;
    remote.answerNext('tools/call', (_, response, __, id) => {
      asked = id;
      response.writeHead(200, EVENTS).end('id: 7\nretry: 50\ndata: \n\n');
    });
    remote.answerNext('GET', (request, response) => {
      expect(request.headers['last-event-id']).toBe('7');
      response.writeHead(200, EVENTS).end(`id: 8\ndata: ${JSON.stringify(result(asked))}\n\n`);
    });
    expect((await gateway.call('remote', 'echo', { text: 'a' })).body).toMatchObject({ result: 'done' });
    await expectUnharmed(gateway, remote);
  });

  test('may be indented over several lines', async () => {
    const remote = await startModernServer();
    const gateway = await serve(remote);
    remote.answerNext('tools/call', (_, response, __, id) => {
      const lines = JSON.stringify(result(id), undefined, 2).split('\n');
      response.writeHead(200, EVENTS).end(`event: message\n${lines.map((line) => `data: ${line}\n`).join('')}\n`);
    });
    expect((await gateway.call('remote', 'echo', { text: 'a' })).body).toMatchObject({ result: 'done' });
  });
});

test('400 with the word session is an error of one call, which is sent once', async () => {
  const remote = await startSessionServer();
  const gateway = await serve(remote);
  const other = gateway.beginCall('remote', 'wait');
  await expect.poll(() => remote.seen.filter(({ method }) => method === 'tools/call').length).toBe(1);
  const refuse: Answer = (_, response) => void response.writeHead(400).end('cannot use "my session"');
  remote.answerNext('tools/call', refuse, refuse);
  const { status, body } = await gateway.call('remote', 'echo', { text: 'my session' });
  expect([status, body.error]).toMatchObject([500, { code: 'TOOL_EXECUTION_ERROR' }]);
  expect(remote.seen.filter(({ method }) => method === 'tools/call')).toHaveLength(2);
  expect(await gateway.untilState('remote', 'available')).toMatchObject({ restarts: 0 });
  other.leave();
});

/** Writes 200 MB, as fast as they are read, or until the connection is closed. */
async function writeMuch(response: ServerResponse, end: string): Promise<void> {
  const closed = new Promise((resolve) => response.once('close', resolve));
  for (let sent = 0; sent < 200 && !response.destroyed; sent += 1) {
    if (!response.write(CHUNK)) await Promise.race([closed, new Promise((resolve) => response.once('drain', resolve))]);
  }
  response.end(end);
}

const FAULTS: readonly (readonly [string, Answer, string])[] = [
  [
    'with 200 MB of JSON',
    (_, response, __, id) => {
      response.writeHead(200, JSON_TYPE).write(`{"jsonrpc":"2.0","id":${id},"result":{"a":"`);
      void writeMuch(response, '"}}');
    },
    'RESPONSE_TOO_LARGE',
  ],
  [
    'with an event of 200 MB',
    (_, response, __, id) => {
      response.writeHead(200, EVENTS).write(`id: 1\ndata: {"result":{"a":"`);
      void writeMuch(response, `"},"jsonrpc":"2.0","id":${id}}\n\n`);
    },
    'RESPONSE_TOO_LARGE',
  ],
  [
    'with half a response',
    (_, response) => {
      response.writeHead(200, EVENTS).write('data: {"jsonrpc":"2.0",');
      setTimeout(() => response.destroy(), 20);
    },
    'SERVER_CRASHED',
  ],
  [
    'with JSON that is cut',
    (_, response) => void response.writeHead(200, JSON_TYPE).end('{"jsonrpc":'),
    'INVALID_RESPONSE',
  ],
  [
    'with an event that is not JSON',
    (_, response) => void response.writeHead(200, EVENTS).end('data: {]\n\n'),
    'SERVER_CRASHED',
  ],
  ['with nothing', () => {}, 'TIMEOUT_ERROR'],
  [
    'with an event stream without an event',
    (_, response) => void response.writeHead(200, EVENTS).write(': wait\n\n'),
    'TIMEOUT_ERROR',
  ],
];

test.each(FAULTS)('a server that answers %s fails only that call', async (_, fault, code) => {
  const remote = await startSessionServer();
  const gateway = await serve(remote);
  remote.answerNext('tools/call', fault);
  const { body } = await gateway.call('remote', 'echo', { text: 'a' }, code === 'TIMEOUT_ERROR' ? 2000 : undefined);
  expect(body.error).toMatchObject({ code });
  await expectUnharmed(gateway, remote);
});

test('a server that answers twice answers once', async () => {
  const remote = await startSessionServer();
  const gateway = await serve(remote);
  remote.answerNext('tools/call', (_, response, __, id) => {
    const event = `data: ${JSON.stringify(result(id))}\n\n`;
    response.writeHead(200, EVENTS).end(event + event);
  });
  expect((await gateway.call('remote', 'echo', { text: 'a' })).body).toMatchObject({ result: 'done' });
  await expectUnharmed(gateway, remote);
});

test('a server that lists 1,000 tools offers them', async () => {
  const remote = await startSessionServer();
  const tools = Array.from({ length: 1000 }, (_, at) => ({ name: `tool${at}`, inputSchema: { type: 'object' } }));
  remote.answerNext('tools/list', (_, response, __, id) => {
    const list = { resultType: 'complete', ttlMs: 0, cacheScope: 'private', tools };
    response.writeHead(200, JSON_TYPE).end(JSON.stringify({ jsonrpc: '2.0', id, result: list }));
  });
  expect((await (await serve(remote)).get('/mcp/servers')).body).toMatchObject({ servers: [{ tools: 1000 }] });
});
