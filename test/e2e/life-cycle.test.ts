import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { answers, holds, neverAnswers, stallsMidStream } from '../support/behaviours.ts';
import { posixTest } from '../support/platform.ts';
import { isRunning } from '../support/process-tree.ts';
import { newFile, newFolder } from './files.ts';
import { API_KEY, answerOf, apiEnv, BUILT_PROGRAM, fakeApi, serve, serveWithApi } from './serve.ts';

/** Adds an uncaught error on SIGUSR2 to a Node.js process. */
const planted = (bug: string) => ({
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(`process.on('SIGUSR2', () => { ${bug} });`)}`,
});

const BUGS = [
  ['thrown in a timer', "setTimeout(() => { throw new Error('planted'); }, 1)", 'Error: planted'],
  ['an unhandled rejection', "void Promise.reject(new TypeError('planted'))", 'TypeError: planted'],
] as const;

posixTest('moreSignals').for(BUGS)(
  'an uncaught error, %s: calls that run and wait are answered, and the process exits with 1',
  async ([, bug, words]) => {
    const { api, server } = await serveWithApi({ env: { OPENAI_MAX_CONCURRENCY: '1', ...planted(bug) } });
    api.replyAlways(stallsMidStream());
    await server.initialize();
    const running = server.callTool('answer', { query: 'runs' }, { progressToken: 'p' }, 'running');
    await api.waitForRequests(1);
    const queued = server.callTool('answer', { query: 'waits' }, undefined, 'queued');
    void server.callTool('answer', { query: 'cancelled' }, undefined, 'cancelled');
    server.notify('notifications/cancelled', { requestId: 'cancelled' });
    await server.request('ping');

    server.kill('SIGUSR2');
    const internal = { code: -32603, message: 'Internal error' };
    expect(await running).toEqual({ jsonrpc: '2.0', id: 'running', error: internal });
    expect(await queued).toEqual({ jsonrpc: '2.0', id: 'queued', error: internal });
    expect(await server.exited).toEqual({ code: 1, signal: null });

    await api.waitForAbort(0);
    await api.until(() => api.openConnections() === 0);
    expect(api.requests).toHaveLength(1);
    const answered = server.messages.filter(({ method }) => method === undefined).map(({ id }) => id);
    expect(answered).toEqual([1, 2, 'running', 'queued']);
    expect(server.junk).toEqual([]);
    expect(withoutTime(server.stderr())).toBe(`[openai-responses-mcp] TIME ERROR internal error: ${words}\n`);
  },
);

posixTest('moreSignals')('a second uncaught error answers no call twice', async () => {
  const bug = "for (const at of [1, 2, 30]) setTimeout(() => { throw new Error('planted ' + at); }, at)";
  const { api, server } = await serveWithApi({ env: planted(bug) });
  api.replyAlways(neverAnswers());
  void server.callTool('answer', { query: 'q' }, undefined, 1);
  await api.waitForRequests(1);
  server.kill('SIGUSR2');
  expect((await server.exited).code).toBe(1);
  expect(server.messages.map(({ id }) => id)).toEqual([1]);
  expect(server.stderr()).not.toMatch(/^\s+at /m);
});

posixTest('moreSignals')('an uncaught error is logged without the key', async () => {
  const server = serve({
    env: { OPENAI_API_KEY: API_KEY, ...planted("throw new Error('key ' + process.env.OPENAI_API_KEY)") },
  });
  await server.initialize();
  server.kill('SIGUSR2');
  expect((await server.exited).code).toBe(1);
  expect(server.stderr()).toContain('internal error: Error: key ');
  expect(server.stderr()).not.toContain(API_KEY);
});

const WAYS_TO_END = [
  ['SIGINT', (server) => server.kill('SIGINT'), { code: 0, signal: null }],
  ['SIGTERM', (server) => server.kill('SIGTERM'), { code: 0, signal: null }],
  ['SIGINT and SIGTERM', (server) => [server.kill('SIGINT'), server.kill('SIGTERM')], { code: 0, signal: null }],
  ['the end of its input and SIGTERM', (server) => [server.closeStdin(), server.kill()], { code: 0, signal: null }],
  ['SIGKILL', (server) => server.kill('SIGKILL'), { code: null, signal: 'SIGKILL' }],
] as const satisfies readonly (readonly [string, (server: ReturnType<typeof serve>) => unknown, object])[];

// S10
posixTest('signals').for(WAYS_TO_END)(
  'after %s nothing is left: no connection, no process, and waiting calls were never sent',
  async ([, end, status]) => {
    const { api, server } = await serveWithApi({ env: { OPENAI_MAX_CONCURRENCY: '2' } });
    api.replyAlways(stallsMidStream());
    for (const query of ['runs', 'runs too', 'waits', 'waits too']) void server.callTool('answer', { query });
    await api.waitForRequests(2);
    end(server);
    expect(await server.exited).toEqual(status);
    await api.until(() => api.openConnections() === 0);
    expect(api.requests).toHaveLength(2);
    expect(isRunning(server.pid)).toBe(false);
    expect(server.messages).toEqual([]);
    expect(server.stderr()).toBe('');
  },
);

// S19
test('after the end of its input it also answers waiting calls, and nothing is left', async () => {
  const { api, server } = await serveWithApi({ env: { OPENAI_MAX_CONCURRENCY: '1' } });
  const held = holds();
  api.replyAlways(held);
  const calls = ['runs', 'waits', 'waits too'].map((query) => server.callTool('answer', { query }));
  await api.waitForRequests(1);
  server.closeStdin();
  held.release(answers('Here.'));
  for (const response of await Promise.all(calls)) expect(answerOf(response).answer).toBe('Here.');
  expect(await server.exited).toEqual({ code: 0, signal: null });
  await api.until(() => api.openConnections() === 0);
  expect(isRunning(server.pid)).toBe(false);
});

test('exits with 0 at once when its input ends and no call runs', async () => {
  const server = serve();
  await server.initialize();
  server.closeStdin();
  expect(await server.exited).toEqual({ code: 0, signal: null });
  expect(server.stderr()).toBe('');
});

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

function withoutTime(log: string): string {
  return log.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME');
}
