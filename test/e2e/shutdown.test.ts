import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { answers, holds, neverAnswers, stallsMidStream } from '../support/behaviours.ts';
import { posixTest } from '../support/platform.ts';
import { newFile, newFolder } from './files.ts';
import { answerOf, apiEnv, BUILT_PROGRAM, fakeApi, serve, serveWithApi } from './serve.ts';

test('exits with 0 at once when its input ends and no call runs', async () => {
  const server = serve();
  await server.initialize();
  server.closeStdin();
  expect(await server.exited).toEqual({ code: 0, signal: null });
  expect(server.stderr()).toBe('');
});

// S19
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

// S10
posixTest('signals').for([['SIGINT'], ['SIGTERM']] as const)(
  '%s aborts the calls in flight and ends the process',
  async ([signal]) => {
    const { api, server } = await serveWithApi();
    api.replyAlways(stallsMidStream());
    void server.callTool('answer', { query: 'q' });
    await api.waitForRequests(1);
    server.kill(signal);
    await api.waitForAbort(0);
    expect(await server.exited).toEqual({ code: 0, signal: null });
    expect(server.messages).toEqual([]);
    expect(server.stderr()).toBe('');
  },
);

test('when the client closes its input and its socket, it aborts the calls in flight and ends', async () => {
  const { api, server } = await serveWithApi();
  api.replyAlways(neverAnswers());
  void server.callTool('answer', { query: 'q' });
  await api.waitForRequests(1);
  server.closeStdin();
  server.closeStdout();
  await api.waitForAbort(0);
  await server.exited;
  expect(server.stderr()).toBe('');
});

posixTest('orphans')(
  'when its input has ended and its parent is killed, it aborts the calls in flight and ends',
  async () => {
    const api = await fakeApi();
    // The parent's death closes nothing else: its standard streams belong to the test.
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
    server.closeStdin();
    server.kill('SIGKILL');
    await api.waitForAbort(0);
    // Resolves when every process that has the streams open is gone.
    expect((await server.exited).signal).toBe('SIGKILL');
  },
);

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
    shell.stdin.write('{"jsonrpc":"2.0","id":2,"method":"ping"}\n');
    await api.waitForAbort(0);
    expect((await lines.next()).value).toBe('exit 0');
  },
);

const CALL = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'answer', arguments: { query: 'q' } } };
