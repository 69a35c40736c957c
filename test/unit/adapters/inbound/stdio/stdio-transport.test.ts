import { PassThrough, Readable } from 'node:stream';
import { ReadBuffer } from '@modelcontextprotocol/sdk/shared/stdio.js';
import { expect, test } from 'vitest';
import { StreamMessageReader } from 'vscode-jsonrpc/node';
import { StdioTransport } from '../../../../../src/adapters/inbound/stdio/stdio-transport.ts';
import { FakeApplication } from '../../../../support/fake-application.ts';
import { newSession } from '../../../../support/mcp-session.ts';
import { RecordingLogger } from '../../../../support/recording-logger.ts';

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const PONG = { jsonrpc: '2.0', id: 1, result: {} };

/** A client that has sent one ping, and everything that it received. */
async function pinged(input: string, { forceLines = false } = {}) {
  const session = newSession({ application: new FakeApplication() });
  const stdin = new PassThrough();
  let written = '';
  const write = (text: string) => {
    written += text;
  };
  const transport = new StdioTransport({
    session,
    input: stdin,
    write,
    logger: new RecordingLogger(),
    redact: (text) => text,
    forceLines,
  });
  void transport.serve();
  const send = async (text: string) => {
    stdin.write(text);
    await new Promise((resolve) => setImmediate(resolve));
    await transport.settled();
  };
  await send(input);
  return { transport, send, written: () => written };
}

const FRAMED_PING = `Content-Length: ${PING.length}\r\n\r\n${PING}`;

test('what begins a message belongs to the next line, however often it was written', async () => {
  const { transport, send, written } = await pinged(`${PING}\n`);
  transport.beginMessage();
  transport.beginMessage();
  await send(`${PING}\n`);
  expect(written().split('\n')).toEqual([JSON.stringify(PONG), `  ${JSON.stringify(PONG)}`, '']);
  const buffer = new ReadBuffer();
  buffer.append(Buffer.from(written()));
  expect([buffer.readMessage(), buffer.readMessage(), buffer.readMessage()]).toEqual([PONG, PONG, null]);
});

test('what begins a message belongs to the next frame, however often it was written', async () => {
  const { transport, send, written } = await pinged(FRAMED_PING);
  transport.beginMessage();
  transport.beginMessage();
  await send(FRAMED_PING);
  const reader = new StreamMessageReader(Readable.from([Buffer.from(written())]));
  const read: unknown[] = [];
  await new Promise<void>((resolve, reject) => {
    reader.onError(reject);
    reader.listen((message) => {
      if (read.push(message) === 2) resolve();
    });
  });
  expect(read).toEqual([PONG, PONG]);
});

test('where lines were asked for, what begins a message is a blank', async () => {
  const { transport, written } = await pinged(FRAMED_PING, { forceLines: true });
  transport.beginMessage();
  expect(written()).toBe(`${JSON.stringify(PONG)}\n `);
});

test('before the client has shown how it frames nothing is begun', async () => {
  const { transport, send, written } = await pinged('');
  expect(transport.beginMessage()).toBe(false);
  await send(FRAMED_PING);
  expect(written()).toBe(`Content-Length: ${JSON.stringify(PONG).length}\r\n\r\n${JSON.stringify(PONG)}`);
  expect(transport.beginMessage()).toBe(true);
});

test('a frame that was begun is ended as one, though the client goes on in lines', async () => {
  const { transport, send, written } = await pinged(FRAMED_PING);
  const before = written().length;
  transport.beginMessage();
  await send(`${PING}\n`);
  await send(`${PING}\n`);
  expect(written().slice(before)).toBe(
    `Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 36\r\n\r\n${JSON.stringify(PONG)}${JSON.stringify(PONG)}\n`,
  );
});
