import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { answers, works } from '../../support/behaviours.ts';
import { freePort } from '../../support/free-port.ts';
import { begin, legacy, send } from '../../support/http-client.ts';
import { startHttpProcess } from '../../support/http-process.ts';
import { newFile } from '../files.ts';
import { apiEnv, fakeApi } from '../serve.ts';

// What HTTP clients do by accident, and a store that is down.

const CALL = legacy('tools/call', { name: 'answer', arguments: { query: 'q' } });

/** The built program with a fake API, and connections to it that end with the test. */
async function start() {
  const api = await fakeApi();
  const { url } = await startHttpProcess({ env: apiEnv(api) });
  const open = async (): Promise<Socket> => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    await once(
      socket.on('error', () => {}),
      'connect',
    );
    return socket;
  };
  const expectService = async () => {
    api.reply(answers('Here.'));
    expect(await send(url, { body: CALL })).toMatchObject({
      status: 200,
      message: { result: { structuredContent: { answer: 'Here.' } } },
    });
  };
  return { api, url, open, expectService };
}

test('a client that disconnects ends only its own call', async () => {
  const { api, url, expectService } = await start();
  api.reply(works());
  const call = begin(url, { body: CALL });
  await api.waitForRequests(1);
  call.leave();
  await api.waitForAbort(0);
  await expectService();
});

test('clients that send half a body, and stay or leave, delay no other', async () => {
  const { open, expectService } = await start();
  const half = `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"jsonrpc":`;
  const [staying, leaving] = [await open(), await open()];
  for (const socket of [staying, leaving]) await new Promise((resolve) => socket.write(half, resolve));
  leaving.destroy();
  await expectService();
  expect(staying.destroyed).toBe(false);
});

test('a body of 100 MB is refused before it is read', async () => {
  const { open, expectService } = await start();
  const socket = await open();
  const refused = new Promise<string>((resolve) => socket.once('data', (data) => resolve(data.toString())));
  const head =
    'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100000000\r\n\r\n';
  socket.write(head);
  expect(await refused).toMatch(/^HTTP\/1\.1 413 /);
  // It may be sent nevertheless.
  socket.write(Buffer.alloc(100_000_000, ' '));
  await expectService();
});

test('500 open connections delay no other client', async () => {
  const { open, expectService } = await start();
  const sockets = await Promise.all(Array.from({ length: 500 }, open));
  await expectService();
  expect(sockets.filter(({ destroyed }) => destroyed)).toEqual([]);
});

test('with a store of quotas that is down, calls are refused, and the rest is served', async () => {
  const api = await fakeApi();
  const config = newFile('config.yaml', 'http: { quota: { calls_per_day: 9 } }');
  const { url, stderr } = await startHttpProcess({
    args: ['--http=127.0.0.1:0', '--config', config],
    env: { ...apiEnv(api), MCP_HTTP_QUOTA_STORE: `redis://127.0.0.1:${await freePort()}` },
  });
  expect((await send(url, { body: legacy('tools/list') })).status).toBe(200);
  expect((await send(url, { body: CALL })).status).toBe(503);
  expect(api.requests).toEqual([]);
  await expect.poll(stderr).toMatch(/quota: .*ECONNREFUSED.*calls are refused/);
});
