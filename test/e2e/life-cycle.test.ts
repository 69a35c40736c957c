import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { answers, holds, neverAnswers, stallsMidStream } from '../support/behaviours.ts';
import { legacy, send } from '../support/http-client.ts';
import { startHttpProcess } from '../support/http-process.ts';
import type { McpProcess } from '../support/mcp-process.ts';
import { posixTest } from '../support/platform.ts';
import { isRunning } from '../support/process-tree.ts';
import { newFile, newFolder } from './files.ts';
import { API_KEY, answerOf, apiEnv, BUILT_PROGRAM, fakeApi, serve, serveWithApi } from './serve.ts';

/** Adds an uncaught error on SIGUSR2 to a Node.js process. */
const planted = (bug: string) => ({
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(`process.on('SIGUSR2', () => { ${bug} });`)}`,
});

posixTest('moreSignals')(
  'after an unhandled rejection, calls that run and wait are answered, and the process exits with 1',
  async () => {
    const bug = planted("void Promise.reject(new TypeError('planted'))");
    const { api, server } = await serveWithApi({ env: { OPENAI_MAX_CONCURRENCY: '1', ...bug } });
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
    const log = server.stderr().replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/, 'TIME');
    expect(log).toBe('[openai-responses-mcp] TIME ERROR internal error: TypeError: planted\n');
  },
);

posixTest('moreSignals')('errors that are thrown again and again answer no call twice, and show no key', async () => {
  const error = 'new Error(process.env.OPENAI_API_KEY + at)';
  const bug = planted(`for (const at of [1, 2, 30]) setTimeout(() => { throw ${error}; }, at)`);
  const { api, server } = await serveWithApi({ env: bug });
  api.replyAlways(neverAnswers());
  void server.callTool('answer', { query: 'q' }, undefined, 1);
  await api.waitForRequests(1);
  server.kill('SIGUSR2');
  expect((await server.exited).code).toBe(1);
  expect(server.messages.map(({ id }) => id)).toEqual([1]);
  expect(server.stderr()).toContain('internal error: Error: [redacted]');
  expect(server.stderr()).not.toContain(API_KEY);
  expect(server.stderr()).not.toMatch(/^\s+at /m);
});

posixTest('moreSignals')(
  'after an uncaught error over HTTP, the call in flight ends, and the process exits with 1',
  async () => {
    const api = await fakeApi();
    api.replyAlways(neverAnswers());
    const { url, kill, exited, stderr } = await startHttpProcess({
      env: { ...apiEnv(api), ...planted("throw new Error('planted')") },
    });
    const call = send(url, { body: legacy('tools/call', { name: 'answer', arguments: { query: 'q' } }) });
    const ended = expect(call).rejects.toThrow();
    await api.waitForRequests(1);
    kill('SIGUSR2');
    await ended;
    expect(await exited).toEqual({ code: 1, signal: null });
    expect(stderr()).toContain('ERROR internal error: Error: planted\n');
  },
);

// S10
posixTest('signals').for([
  ['SIGINT and SIGTERM', (server: McpProcess) => [server.kill('SIGINT'), server.kill('SIGTERM')]],
  ['the end of its input and SIGTERM', (server: McpProcess) => [server.closeStdin(), server.kill('SIGTERM')]],
] as const)(
  'after %s nothing is left: no connection, no process, and waiting calls were never sent',
  async ([, end]) => {
    const { api, server } = await serveWithApi({ env: { OPENAI_MAX_CONCURRENCY: '2' } });
    api.replyAlways(stallsMidStream());
    for (const query of ['runs', 'runs too', 'waits', 'waits too']) void server.callTool('answer', { query });
    await api.waitForRequests(2);
    end(server);
    expect(await server.exited).toEqual({ code: 0, signal: null });
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
