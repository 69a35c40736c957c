import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { answers, fails, holds, neverAnswers, stallsMidStream } from '../support/behaviours.ts';
import { newFile, newFolder } from './files.ts';
import { answerOf, apiEnv, BUILT_PROGRAM, fakeApi, serve, serveWithApi } from './serve.ts';

/** "Within a second" (ruling 13), and what a busy machine adds. */
const SOON_MS = 2000;

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

test.for([['SIGINT'], ['SIGTERM']] as const)('%s aborts the calls in flight and ends the process', async ([signal]) => {
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
});

test.for([['SIGINT'], ['SIGTERM']] as const)('%s ends an idle process', async ([signal]) => {
  const server = serve();
  await server.initialize();
  server.kill(signal);
  expect(await server.exited).toEqual({ code: 0, signal: null });
});

test('when its output can no longer be read, it aborts the calls in flight and ends', async () => {
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

test('when its reader is gone in the middle of the input, it ends without a stack trace', async () => {
  const server = serve();
  await server.initialize();
  server.closeStdout();
  for (let id = 1; id <= 50; id += 1) server.send({ jsonrpc: '2.0', id, method: 'tools/list' });
  await server.exited;
  expect(server.stderr()).toBe('');
});

const isPosix = process.platform !== 'win32';

test.runIf(isPosix)('when its parent is killed, it aborts the calls in flight and ends', async () => {
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

/** How shells and other programs than Node lay pipes. All of them close the reading end when told, and live on. */
const PIPES = [
  ['a pipe that its sibling reads', 'line', `serve | { ${closeWhenTold('exec 0<&-')}; }`],
  ['a pipe that its parent reads', 'framed', `mkfifo out; serve <&9 >out & exec 3<out; ${closeWhenTold('exec 3<&-')}`],
  [
    'a pipe that one reader left to another',
    'line',
    `serve | { exec 8<&0; sh -c '${closeWhenTold('exec 0<&-')}' <&8 8<&- & exec 0<&- 8<&-; wait; }`,
  ],
] as const;

const isLinux = process.platform === 'linux';

test.runIf(isLinux).for(PIPES)('when nobody reads %s any more, it aborts what runs and ends', async (pipe) => {
  const [, framing, script] = pipe;
  const { api, shell, call, said } = await startInShell(script);
  const body = JSON.stringify(call);
  shell.stdin.write(framing === 'line' ? `${body}\n` : `Content-Length: ${body.length}\r\n\r\n${body}`);
  await api.waitForRequests(1);
  // It has looked for its reader by then, and has found it.
  await wait(500);
  expect(api.openConnections()).toBe(1);

  const startedAt = performance.now();
  shell.tell();
  await api.waitForAbort(0);
  await vi.waitUntil(() => said() !== '', { timeout: SOON_MS });
  expect(performance.now() - startedAt).toBeLessThan(SOON_MS);
  expect(said()).toBe('ended with 0\n');
});

test.runIf(isLinux).for([
  ['its input goes on', 'serve | true'],
  ['its input has ended', '{ head -n 1 | serve; } | true'],
] as const)('when nobody ever read its pipe, and %s, it aborts what runs and ends', async ([, script]) => {
  const { api, shell, call, said } = await startInShell(script);
  shell.stdin.write(`${JSON.stringify(call)}\n`);
  await api.waitForRequests(1);
  const startedAt = performance.now();
  await api.waitForAbort(0);
  await vi.waitUntil(() => said() !== '', { timeout: SOON_MS });
  expect(performance.now() - startedAt).toBeLessThan(SOON_MS);
  expect(said()).toBe('ended with 0\n');
});

test.runIf(isLinux)(
  'nothing but the answer is written to a pipe that is read, though it has lost its name',
  async () => {
    const { api, shell, call } = await startInShell('mkfifo out; serve <&9 >out & exec 3<out; rm out; cat <&3');
    const held = holds();
    api.replyAlways(held);
    shell.stdin.write(`${JSON.stringify(call)}\n`);
    await api.waitForRequests(1);
    // So long that it has looked often.
    await wait(1200);
    held.release(answers('Here.'));
    const [answer] = (await once(shell.stdout, 'data')) as [Buffer];
    expect(String(answer)).toMatch(/^\{"jsonrpc":"2\.0","id":1,"result":.*\n$/);
  },
);

/** The program under a shell, as `serve`, with a fake API that never answers unless it is told to. */
async function startInShell(script: string) {
  const api = await fakeApi();
  api.replyAlways(neverAnswers());
  const folder = newFolder();
  const serve = 'serve() { "$NODE" "$PROGRAM" --stdio; echo "ended with $?" >&2; }; exec 9<&0; ';
  const child = spawn('sh', ['-c', serve + script], {
    cwd: folder,
    env: { ...apiEnv(api), PATH: process.env.PATH, HOME: folder, NODE: process.execPath, PROGRAM: BUILT_PROGRAM },
    detached: true,
  });
  child.stdin.on('error', () => undefined);
  onTestFinished(() => {
    try {
      process.kill(-Number(child.pid), 'SIGKILL');
    } catch {
      // The process and its shell have ended.
    }
  });
  const said: string[] = [];
  child.stderr.on('data', (text) => said.push(String(text)));
  const shell = Object.assign(child, { tell: () => writeFileSync(path.join(folder, 'close'), '') });
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'answer', arguments: { query: 'q' } } };
  return { api, shell, call, said: () => said.join('') };
}

test.runIf(isPosix)('at the end of a shell pipe whose reader is gone, it ends and its answer is dropped', async () => {
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

/** Shell words that run `close` when the test has made the file `close`, and live on. */
function closeWhenTold(close: string): string {
  return `until [ -e close ]; do sleep 0.02; done; ${close}; sleep 60`;
}
