import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { newFile, newFolder } from '../e2e/files.ts';
import { API_KEY, answerOf, apiEnv, BUILT_PROGRAM, fakeApi, serve, serveWithApi } from '../e2e/serve.ts';
import { answers, fails, holds, neverAnswers, stallsMidStream } from '../support/behaviours.ts';
import { type CleanProcessOptions, startCleanProcess } from '../support/clean-process.ts';
import { type JsonRpcMessage, McpOutputReader } from '../support/mcp-output.ts';
import { posixTest } from '../support/platform.ts';
import { isRunning } from '../support/process-tree.ts';

/** "Within a second" (ruling 13), and what a busy machine adds. */
const SOON_MS = 4000;

/** Adds an uncaught error on SIGUSR2 to a Node.js process. */
const planted = (bug: string) => ({
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(`process.on('SIGUSR2', () => { ${bug} });`)}`,
});

const BUGS = [
  ['thrown in a timer', "setTimeout(() => { throw new Error('planted'); }, 1)", 'Error: planted'],
  ['an unhandled rejection', "void Promise.reject(new TypeError('planted'))", 'TypeError: planted'],
  ['a thrown string', "setTimeout(() => { throw 'planted'; }, 1)", 'planted'],
  ['a rejection without a reason', 'void Promise.reject()', 'undefined'],
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

    const startedAt = performance.now();
    server.kill('SIGUSR2');
    const internal = { code: -32603, message: 'Internal error' };
    expect(await running).toEqual({ jsonrpc: '2.0', id: 'running', error: internal });
    expect(await queued).toEqual({ jsonrpc: '2.0', id: 'queued', error: internal });
    expect(await server.exited).toEqual({ code: 1, signal: null });
    expect(performance.now() - startedAt).toBeLessThan(SOON_MS);

    await api.waitForAbort(0);
    await api.until(() => api.openConnections() === 0);
    expect(api.requests).toHaveLength(1);
    const answered = server.messages.filter(({ method }) => method === undefined).map(({ id }) => id);
    expect(answered).toEqual([1, 2, 'running', 'queued']);
    expect(server.junk).toEqual([]);
    expect(withoutTime(server.stderr())).toBe(`[openai-responses-mcp] TIME ERROR internal error: ${words}\n`);
  },
);

posixTest('moreSignals')('an uncaught error while no call runs ends the process with 1', async () => {
  const server = serve({ env: planted("throw new Error('planted')") });
  await server.initialize();
  server.kill('SIGUSR2');
  expect(await server.exited).toEqual({ code: 1, signal: null });
  expect(withoutTime(server.stderr())).toBe('[openai-responses-mcp] TIME ERROR internal error: Error: planted\n');
});

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

posixTest('moreSignals')(
  'an uncaught error after the end of the input ends the process with 1, and the responses can be read',
  async () => {
    const env = planted("setTimeout(() => { throw new Error('planted'); }, 1)");
    const { child, exited } = start(['--stdio'], { env });
    const stderr = textOf(child.stderr);
    child.stdin.end(ASK_MUCH);
    await wait(500);
    child.kill('SIGUSR2');
    await vi.waitUntil(() => stderr() !== '', { timeout: SOON_MS });
    child.stdout.resume();
    expect(await exited).toEqual({ code: 1, signal: null });
  },
);

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

posixTest('moreSignals').for([['ask', 'What is it?'], ['doctor']])(
  'an uncaught error in %s ends it with 1 and without a stack trace',
  async (args) => {
    const api = await fakeApi();
    api.replyAlways(neverAnswers());
    const env = { ...apiEnv(api), ...planted("setTimeout(() => { throw new Error('planted'); }, 1)") };
    const { child, exited } = start(args, { env });
    const [stdout, stderr] = [textOf(child.stdout), textOf(child.stderr)];
    await api.waitForRequests(1);
    child.kill('SIGUSR2');
    expect(await exited).toEqual({ code: 1, signal: null });
    expect(stderr()).toContain('planted');
    expect(stdout() + stderr()).not.toMatch(/^\s+at |^Node\.js v/m);
    await api.until(() => api.openConnections() === 0);
  },
);

const WAYS_TO_END = [
  ['SIGINT', (server) => server.kill('SIGINT'), { code: 0, signal: null }],
  ['SIGTERM', (server) => server.kill('SIGTERM'), { code: 0, signal: null }],
  ['SIGINT and SIGTERM', (server) => [server.kill('SIGINT'), server.kill('SIGTERM')], { code: 0, signal: null }],
  ['the end of its input and SIGTERM', (server) => [server.closeStdin(), server.kill()], { code: 0, signal: null }],
  ['a closed standard output', (server) => server.closeStdout(), { code: 0, signal: null }],
  ['SIGKILL', (server) => server.kill('SIGKILL'), { code: null, signal: 'SIGKILL' }],
] as const satisfies readonly (readonly [string, (server: ReturnType<typeof serve>) => unknown, object])[];

posixTest('signals').for(WAYS_TO_END)(
  'after %s nothing is left: no connection, no process, and waiting calls were never sent',
  async ([, end, status]) => {
    const { api, server } = await serveWithApi({ env: { OPENAI_MAX_CONCURRENCY: '2' } });
    api.replyAlways(stallsMidStream());
    for (const query of ['runs', 'runs too', 'waits', 'waits too']) void server.callTool('answer', { query });
    await api.waitForRequests(2);
    const startedAt = performance.now();
    end(server);
    expect(await server.exited).toEqual(status);
    await api.until(() => api.openConnections() === 0);
    expect(performance.now() - startedAt).toBeLessThan(SOON_MS);
    expect(api.requests).toHaveLength(2);
    expect(isRunning(server.pid)).toBe(false);
    expect(server.messages).toEqual([]);
    expect(server.stderr()).toBe('');
  },
);

posixTest('orphans')('after its parent was killed nothing is left: no connection, no process', async () => {
  const api = await fakeApi();
  const parent = newFile(
    'parent.mjs',
    `import { spawn } from 'node:child_process';
     spawn(process.execPath, [${JSON.stringify(BUILT_PROGRAM)}, '--stdio'], { stdio: 'inherit' });`,
  );
  const server = serve({ program: parent, args: [], env: { ...apiEnv(api), OPENAI_MAX_CONCURRENCY: '1' } });
  api.replyAlways(stallsMidStream());
  for (const query of ['runs', 'waits']) void server.callTool('answer', { query });
  await api.waitForRequests(1);
  const startedAt = performance.now();
  server.kill('SIGKILL');
  // Resolves when every process that has the streams open is gone.
  await server.exited;
  await api.until(() => api.openConnections() === 0);
  expect(performance.now() - startedAt).toBeLessThan(SOON_MS);
  expect(api.requests).toHaveLength(1);
  expect(server.stderr()).toBe('');
});

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

posixTest('signals')('SIGTERM ends a call that waits for a retry, and one that waits for its slot', async () => {
  const { api, server } = await serveWithApi({ env: { OPENAI_MAX_CONCURRENCY: '1' } });
  api.replyAlways(
    fails({
      status: 429,
      error: { message: 'Slow down.', type: 'requests', param: null, code: 'rate_limit_exceeded' },
      headers: { 'retry-after': '30' },
    }),
  );
  void server.callTool('answer', { query: 'first' }, { progressToken: 'first' });
  await server.waitFor(isProgress('first', /^Rate limited; retrying in 30 s/));
  void server.callTool('answer', { query: 'second' }, { progressToken: 'second' });
  await server.waitFor(isProgress('second', /^Waiting for a free slot/));
  const startedAt = performance.now();
  server.kill('SIGTERM');
  expect(await server.exited).toEqual({ code: 0, signal: null });
  expect(performance.now() - startedAt).toBeLessThan(SOON_MS);
  expect(api.requests).toHaveLength(1);
});

/** 16 MB of answers, far more than any pipe can buffer. */
const MANY = 2000;
const ASK_MUCH = Array.from({ length: MANY }, (_, id) => `{"jsonrpc":"2.0","id":${id},"method":"tools/list"}\n`).join(
  '',
);

test('a client that reads late receives all responses, also after the end of its input', async () => {
  const { child, exited } = start(['--stdio']);
  child.stdin.end(ASK_MUCH);
  await wait(700);
  expect(isRunning(child.pid)).toBe(true);
  const ids: unknown[] = [];
  const reader = new McpOutputReader({ message: ({ id }) => ids.push(id), junk: (text) => ids.push(text) });
  child.stdout.on('data', (bytes: Buffer) => reader.push(bytes));
  expect(await exited).toEqual({ code: 0, signal: null });
  expect(ids).toEqual(Array.from({ length: MANY }, (_, id) => id));
});

posixTest('shell')('a slow reader at the end of a shell pipe loses nothing', async () => {
  const requests = newFile('requests.jsonl', ASK_MUCH);
  const shell = spawn(
    'sh',
    ['-c', '"$0" "$1" --stdio < "$2" | (sleep 0.5; wc -l)', process.execPath, BUILT_PROGRAM, requests],
    {
      cwd: newFolder(),
      env: { PATH: process.env.PATH, HOME: newFolder() },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const lines = textOf(shell.stdout);
  await once(shell, 'close');
  expect(Number(lines())).toBe(MANY);
});

const ENDS_OF_NON_READERS = [
  ['by SIGTERM', (child) => child.kill('SIGTERM')],
  ['by SIGTERM after the end of its input', (child) => [child.stdin.end(), child.kill('SIGTERM')]],
  ['when the client closes its end', (child) => child.stdout.destroy()],
  ['when the client closes its end after the end of its input', (child) => [child.stdin.end(), child.stdout.destroy()]],
] as const satisfies readonly (readonly [string, (child: ReturnType<typeof start>['child']) => unknown])[];

posixTest('signals').for(ENDS_OF_NON_READERS)(
  'a client that never reads does not keep the process alive: it ends %s',
  async ([, end]) => {
    const api = await fakeApi();
    api.replyAlways(neverAnswers());
    const { child } = start(['--stdio'], { env: apiEnv(api) });
    const ended = once(child, 'exit');
    child.stdin.write(ASK_MUCH);
    const call = {
      jsonrpc: '2.0',
      id: 'call',
      method: 'tools/call',
      params: { name: 'answer', arguments: { query: 'q' } },
    };
    child.stdin.write(`${JSON.stringify(call)}\n`);
    await api.waitForRequests(1);
    const startedAt = performance.now();
    end(child);
    expect(await ended).toEqual([0, null]);
    await api.until(() => api.openConnections() === 0);
    expect(performance.now() - startedAt).toBeLessThan(SOON_MS);
  },
);

test('continues, and exits normally, when the reader of its log is gone', async () => {
  const { child, exited } = start(['--stdio'], { env: { DEBUG: '1' } });
  child.stderr.destroy();
  const ids: unknown[] = [];
  const reader = new McpOutputReader({ message: ({ id }) => ids.push(id), junk: (text) => ids.push(text) });
  child.stdout.on('data', (bytes: Buffer) => reader.push(bytes));
  for (let id = 1; id <= 5; id += 1) {
    child.stdin.write(`{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`);
    await wait(30);
  }
  child.stdin.end();
  expect(await exited).toEqual({ code: 0, signal: null });
  expect(ids).toEqual([1, 2, 3, 4, 5]);
});

test('a warning that cannot be written costs no answer', async () => {
  const api = await fakeApi();
  const error = { message: 'No.', type: 'invalid_request_error', param: 'reasoning.effort', code: 'unsupported_value' };
  api.reply(fails({ status: 400, error }), answers('Here.'));
  const { child, exited } = start(['--stdio'], { env: apiEnv(api) });
  child.stderr.destroy();
  const stdout = textOf(child.stdout);
  child.stdin.end(
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"answer","arguments":{"query":"q"}}}\n',
  );
  expect(await exited).toEqual({ code: 0, signal: null });
  expect(JSON.parse(stdout())).toMatchObject({ id: 1, result: { structuredContent: { answer: 'Here.' } } });
});

/** A process whose standard output is not read yet. */
function start(args: readonly string[], options: CleanProcessOptions = {}) {
  const { child, exited, removeHome } = startCleanProcess(args, options);
  onTestFinished(async () => {
    child.kill('SIGKILL');
    for (const stream of [child.stdout, child.stderr]) stream.destroy();
    await exited;
    removeHome();
  });
  return { child, exited };
}

const isProgress =
  (token: string, words: RegExp) =>
  ({ params }: JsonRpcMessage): boolean =>
    params?.progressToken === token && words.test(String(params.message));

/** Everything that a stream emits from now on. */
function textOf(stream: NodeJS.ReadableStream): () => string {
  const chunks: string[] = [];
  stream.on('data', (chunk) => chunks.push(String(chunk)));
  return () => chunks.join('');
}

function withoutTime(log: string): string {
  return log.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME');
}
