import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { answers, fails, holds, neverAnswers, stallsMidStream } from '../support/behaviours.ts';
import { posixTest } from '../support/platform.ts';
import { newFile, newFolder } from './files.ts';
import { answerOf, apiEnv, BUILT_PROGRAM, fakeApi, serve, serveWithApi } from './serve.ts';

/** "Within a second" (ruling 13), and what a busy machine adds. */
const SOON_MS = 4000;

test('exits with 0 at once when its input ends and no call runs', async () => {
  const server = serve();
  await server.initialize();
  const startedAt = performance.now();
  server.closeStdin();
  expect(await server.exited).toEqual({ code: 0, signal: null });
  expect(performance.now() - startedAt).toBeLessThan(SOON_MS);
  expect(server.stderr()).toBe('');
});

test('exits with 0 on an empty input, without output', async () => {
  const server = serve();
  server.closeStdin();
  expect(await server.exited).toEqual({ code: 0, signal: null });
  expect(server.stdout + server.stderr()).toBe('');
});

test('exits at once after an answer, although the connection to the API is idle', async () => {
  const { api, server } = await serveWithApi();
  api.replyAlways(answers('Here.'));
  await server.callTool('answer', { query: 'q' });
  const startedAt = performance.now();
  server.closeStdin();
  expect((await server.exited).code).toBe(0);
  expect(performance.now() - startedAt).toBeLessThan(SOON_MS);
});

test('answers the calls in flight when its input ends, then exits with 0', async () => {
  const { api, server } = await serveWithApi();
  const held = holds();
  api.replyAlways(held);
  const calls = ['one', 'two', 'three'].map((query) => server.callTool('answer', { query }));
  server.closeStdin();
  await api.waitForRequests(3);
  held.release(answers('After the end of input.'));
  for (const response of await Promise.all(calls)) expect(answerOf(response).answer).toBe('After the end of input.');
  expect(await server.exited).toEqual({ code: 0, signal: null });
  expect(server.junk).toEqual([]);
});

test('a call that is retried is answered after the end of input too', async () => {
  const { api, server } = await serveWithApi();
  const error = { message: 'no', type: 'server_error', param: null, code: null };
  api.reply(fails({ status: 500, error, headers: { 'retry-after-ms': '1' } }), answers('At last.'));
  const call = server.callTool('answer', { query: 'q' });
  server.closeStdin();
  expect(answerOf(await call).answer).toBe('At last.');
  expect((await server.exited).code).toBe(0);
});

posixTest('signals').for([['SIGINT'], ['SIGTERM']] as const)(
  '%s aborts the calls in flight and ends the process',
  async ([signal]) => {
    const { api, server } = await serveWithApi();
    api.replyAlways(stallsMidStream());
    void server.callTool('answer', { query: 'q' });
    await api.waitForRequests(1);
    const startedAt = performance.now();
    server.kill(signal);
    await api.waitForAbort(0);
    expect(await server.exited).toEqual({ code: 0, signal: null });
    expect(performance.now() - startedAt).toBeLessThan(SOON_MS);
    expect(server.messages).toEqual([]);
    expect(server.stderr()).toBe('');
  },
);

posixTest('signals').for([['SIGINT'], ['SIGTERM']] as const)('%s ends an idle process', async ([signal]) => {
  const server = serve();
  await server.initialize();
  server.kill(signal);
  expect(await server.exited).toEqual({ code: 0, signal: null });
});

test('when the client closes its socket, it aborts the calls in flight and ends', async () => {
  const { api, server } = await serveWithApi();
  api.replyAlways(neverAnswers());
  void server.callTool('answer', { query: 'q' });
  await api.waitForRequests(1);
  const startedAt = performance.now();
  server.closeStdout();
  await api.waitForAbort(0);
  await server.exited;
  expect(performance.now() - startedAt).toBeLessThan(SOON_MS);
  expect(server.stderr()).toBe('');
});

test('when the client closes its socket in the middle of the input, it ends without a stack trace', async () => {
  const server = serve();
  await server.initialize();
  server.closeStdout();
  for (let id = 1; id <= 50; id += 1) server.send({ jsonrpc: '2.0', id, method: 'tools/list' });
  await server.exited;
  expect(server.stderr()).toBe('');
});

posixTest('orphans')('when its parent is killed, it aborts the calls in flight and ends', async () => {
  const api = await fakeApi();
  // The parent's death closes nothing: its standard streams belong to the test.
  const parent = newFile(
    'parent.mjs',
    `import { spawn } from 'node:child_process';
     spawn(process.execPath, [${JSON.stringify(BUILT_PROGRAM)}, '--stdio'], { stdio: 'inherit' });`,
  );
  const server = serve({ program: parent, args: [], env: apiEnv(api) });
  api.replyAlways(neverAnswers());
  await server.initialize();
  void server.callTool('answer', { query: 'q' });
  await api.waitForRequests(1);
  const startedAt = performance.now();
  server.kill('SIGKILL');
  await api.waitForAbort(0);
  // Resolves when every process that has the streams open is gone.
  expect((await server.exited).signal).toBe('SIGKILL');
  expect(performance.now() - startedAt).toBeLessThan(SOON_MS);
});

posixTest('shell')(
  'when the reader closed its pipe, the next write ends it and aborts the calls in flight',
  async () => {
    const api = await fakeApi();
    api.replyAlways(neverAnswers());
    const script = '{ "$0" "$1" --stdio; echo "exit $?" >&2; } | { exec 0<&-; echo closed >&2; exec sleep 60; }';
    const shell = spawn('sh', ['-c', script, process.execPath, BUILT_PROGRAM], {
      env: { ...apiEnv(api), PATH: process.env.PATH, HOME: newFolder() },
      detached: true,
    });
    shell.stdin.on('error', () => undefined);
    onTestFinished(() => void process.kill(-Number(shell.pid), 'SIGKILL'));
    const lines = createInterface(shell.stderr)[Symbol.asyncIterator]();
    expect((await lines.next()).value).toBe('closed');
    shell.stdin.write(`${JSON.stringify(CALL)}\n`);
    await api.waitForRequests(1);
    const startedAt = performance.now();
    shell.stdin.write('{"jsonrpc":"2.0","id":2,"method":"ping"}\n');
    await api.waitForAbort(0);
    expect((await lines.next()).value).toBe('exit 0');
    expect(performance.now() - startedAt).toBeLessThan(SOON_MS);
  },
);

const CALL = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'answer', arguments: { query: 'q' } } };

posixTest('shell')('at the end of a shell pipe whose reader is gone, it ends and its answer is dropped', async () => {
  const request = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
  const script = `(for i in $(seq 2000); do echo '${request}'; done) | "$0" "$1" --stdio | head -c 10`;
  const shell = spawn('sh', ['-c', script, process.execPath, BUILT_PROGRAM], {
    cwd: newFolder(),
    env: { PATH: process.env.PATH, HOME: newFolder() },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const stderr: string[] = [];
  shell.stderr.on('data', (text) => stderr.push(String(text)));
  shell.stdout.resume();
  await once(shell, 'close');
  expect(stderr.filter((text) => !/sh:.*broken pipe/i.test(text)).join('')).toBe('');
});
