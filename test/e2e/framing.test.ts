import { expect, test } from 'vitest';
import { serve } from './serve.ts';

const ping = (id: number) => JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' });
const frame = (json: string, length = Buffer.byteLength(json)) => `Content-Length: ${length}\r\n\r\n${json}`;
const pong = (id: number) => ({ jsonrpc: '2.0', id, result: {} });

test('answers lines with lines', async () => {
  const server = serve();
  await server.initialize();
  await server.request('ping');
  expect(server.framings).toEqual(['line', 'line']);
  expect(server.stdout.endsWith('{"jsonrpc":"2.0","id":2,"result":{}}\n')).toBe(true);
});

test('answers frames with frames, byte by byte as expected', async () => {
  const server = serve({ framing: 'framed' });
  await server.initialize();
  await server.request('ping');
  expect(server.framings).toEqual(['framed', 'framed']);
  expect(server.stdout.endsWith('Content-Length: 36\r\n\r\n{"jsonrpc":"2.0","id":2,"result":{}}')).toBe(true);
});

test('counts bytes, not characters, of what it writes', async () => {
  const server = serve({ framing: 'framed', args: ['--stdio', '--offline'] });
  const response = await server.callTool('answer', { query: 'HTTP 404 の意味は？' });
  const json = JSON.stringify(response);
  expect(server.stdout).toBe(`Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`);
  expect(Buffer.byteLength(json)).toBeGreaterThan(json.length);
});

test('answers frames with frames until it has read a line, and then always with lines', async () => {
  const server = serve();
  for (const [id, text] of [frame(ping(1)), `${ping(2)}\n`, frame(ping(3))].entries()) {
    server.sendRaw(text);
    await server.waitFor((message) => message.id === id + 1);
  }
  expect(server.framings).toEqual(['framed', 'line', 'line']);
});

test('a line that is not JSON does not turn frames into lines', async () => {
  const server = serve();
  server.sendRaw(`${frame(ping(1))}nonsense\n${frame(ping(2))}`);
  await server.waitFor((message) => message.id === 2);
  expect(server.framings).toEqual(['framed', 'framed', 'framed']);
});

test('MCP_LINE_MODE=1 answers frames with lines', async () => {
  const server = serve({ framing: 'framed', env: { MCP_LINE_MODE: '1' } });
  await server.initialize();
  expect(server.framings).toEqual(['line']);
});

test('reads messages in chunks of any size', async () => {
  const server = serve();
  const query = '本日の東京の天気は？🌤';
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'unknown', arguments: { query } } };
  for (const byte of Buffer.from(frame(JSON.stringify(call)))) server.sendRaw(Uint8Array.of(byte));
  server.sendRaw(frame(ping(2)) + frame(ping(3)) + frame(ping(4)));
  await server.waitFor((message) => message.id === 4);
  expect(server.messages.map(({ id }) => id)).toEqual([1, 2, 3, 4]);
});

test('reads headers in any case, with other fields, without a space, and with bare line feeds', async () => {
  const server = serve();
  const json = ping(1);
  server.sendRaw(
    `content-type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-LENGTH:${json.length}\r\n\r\n${json}`,
  );
  server.sendRaw(`Content-Length: ${json.length}\n\n${ping(2)}`);
  await server.waitFor((message) => message.id === 2);
  expect(server.messages).toEqual([pong(1), pong(2)]);
});

test('reports a frame whose body is not JSON once, and reads the next frames', async () => {
  const server = serve();
  server.sendRaw(frame(ping(1)) + frame('{"jsonrpc":') + frame(ping(2)) + frame(ping(3)));
  await server.waitFor((message) => message.id === 3);
  const error = { code: -32700, message: expect.stringMatching(/^Parse error/) };
  expect(server.messages).toEqual([pong(1), { jsonrpc: '2.0', error }, pong(2), pong(3)]);
  expect(new Set(server.framings)).toEqual(new Set(['framed']));
  expect(server.junk).toEqual([]);
});

test.for([
  ['a line of invalid UTF-8', Buffer.from('{"jsonrpc":"2.0","id":"\xFF","method":"ping"}\n', 'latin1')],
  ['a line that is not JSON and contains a header', '{"jsonrpc":"2.0","id":5,"x":"set Content-Length: 5",}\n'],
])('reports %s once, and reads the next line', async ([, bytes = '']) => {
  const server = serve();
  server.sendRaw(bytes);
  server.sendRaw(`${ping(2)}\n`);
  await server.waitFor((message) => message.id === 2);
  const error = { code: -32700, message: expect.stringMatching(/^Parse error/) };
  expect(server.messages).toEqual([{ jsonrpc: '2.0', error }, pong(2)]);
});

test('reads a message of 16 MB', async () => {
  const server = serve();
  const query = 'x'.repeat(16 * 1024 * 1024);
  const json = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params: { query } });
  server.sendRaw(`${json}\n${frame(json)}`);
  server.sendRaw(frame(ping(2)));
  await server.waitFor((message) => message.id === 2);
  expect(server.messages).toEqual([pong(1), pong(1), pong(2)]);
});

test('exits when the input ends inside a frame, after it reported a parse error', async () => {
  const server = serve();
  server.sendRaw(frame(ping(1), ping(1).length + 30));
  server.closeStdin();
  expect((await server.exited).code).toBe(0);
  expect(server.messages[0]).toMatchObject({ error: { code: -32700 } });
});
