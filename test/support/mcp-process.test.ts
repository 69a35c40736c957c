import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import type { Framing } from './mcp-output.ts';
import { type McpProcess, runCli, type ServerOptions, startServer } from './mcp-process.ts';
import { posixTest } from './platform.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'mcp-process-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

const running: McpProcess[] = [];
afterEach(() => Promise.all(running.splice(0).map((server) => server.dispose())));

/** Starts a program with the given source. */
function start(source: string, options: ServerOptions = {}): McpProcess {
  const server = startServer({ program: programOf(source), ...options });
  running.push(server);
  return server;
}

function programOf(source: string): string {
  const program = path.join(mkdtempSync(path.join(folder, 'program-')), 'index.mjs');
  writeFileSync(program, source);
  return program;
}

/** Answers each message, a line or a frame, with its method and parameters, in the framing of the message. */
const ECHO = `
  let unread = '';
  process.stdin.setEncoding('utf8').on('data', (text) => {
    unread += text;
    for (;;) {
      const found = /^Content-Length: \\d+\\r\\n\\r\\n(\\{.*\\})(?=Content|$)/.exec(unread) ?? /^(\\{.*)\\n/.exec(unread);
      if (!found) return;
      unread = unread.slice(found[0].length);
      const { id, method, params } = JSON.parse(found[1]);
      if (id === undefined) { write({ jsonrpc: '2.0', method: 'seen', params: { method } }, found[0]); continue; }
      write({ jsonrpc: '2.0', id, result: { method, params } }, found[0]);
    }
  });
  function write(message, like) {
    const json = JSON.stringify(message);
    process.stdout.write(like.startsWith('C') ? 'Content-Length: ' + Buffer.byteLength(json) + '\\r\\n\\r\\n' + json : json + '\\n');
  }
`;

test.each<Framing>(['line', 'framed'])('uses the configured framing: %s', async (framing) => {
  const server = start(ECHO, { framing });
  const initialized = await server.initialize();
  expect(initialized).toMatchObject({ id: 1, result: { params: { protocolVersion: '2025-06-18' } } });
  await server.waitFor(({ method }) => method === 'seen');
  const called = await server.callTool('answer', { query: '富士山🗻' }, { progressToken: 7 });
  expect(called.result?.params).toEqual({
    name: 'answer',
    arguments: { query: '富士山🗻' },
    _meta: { progressToken: 7 },
  });
  expect(server.lastId).toBe(2);
  expect(server.framings).toEqual([framing, framing, framing]);
  expect(server.notifications).toEqual([
    { jsonrpc: '2.0', method: 'seen', params: { method: 'notifications/initialized' } },
  ]);
  expect(server.junk).toEqual([]);
});

test('distinguishes the id 1 from the id "1"', async () => {
  const server = start(ECHO);
  const responses = [server.request('a', {}, '1'), server.request('b', {}, 1)];
  expect(await Promise.all(responses)).toMatchObject([{ result: { method: 'a' } }, { result: { method: 'b' } }]);
});

test('sends raw bytes, and records what is not a message', async () => {
  const server = start(`console.log('hello');${ECHO}`);
  server.sendRaw('{"id":5,"meth');
  server.sendRaw('od":"m"}\n');
  await server.waitFor(({ id }) => id === 5);
  expect(server.junk).toEqual(['hello\n']);
  expect(server.stdout).toBe('hello\n{"jsonrpc":"2.0","id":5,"result":{"method":"m"}}\n');
});

test('rejects pending requests when the process exits, with its stderr', async () => {
  const server = start(
    'process.stdin.once("data", () => { console.error("no key"); process.exitCode = 3; process.stdin.destroy(); });',
  );
  await expect(server.request('ping')).rejects.toThrow(/exited with code 3; stderr: no key/);
  await expect(server.waitFor(() => true)).rejects.toThrow('exited');
  expect(await server.exited).toEqual({ code: 3, signal: null });
  expect(server.stderr()).toBe('no key\n');
});

test('closes stdin, kills, and disposes', async () => {
  const closed = start(ECHO);
  closed.closeStdin();
  expect(await closed.exited).toEqual({ code: 0, signal: null });

  const killed = start(ECHO);
  killed.kill('SIGINT');
  expect(await killed.exited).toEqual({ code: null, signal: 'SIGINT' });

  const disposed = start(ECHO);
  await disposed.dispose();
  expect(await disposed.exited).toEqual({ code: null, signal: 'SIGKILL' });
  expect(existsSync(disposed.home)).toBe(false);
});

test('lets the server write into a closed pipe', async () => {
  const server = start(`
    process.stdout.on('error', ({ code }) => { console.error(code); process.exit(4); });
    setInterval(() => process.stdout.write('x'), 5);
  `);
  server.closeStdout();
  expect(await server.exited).toMatchObject({ code: 4 });
  expect(server.stderr()).toBe('EPIPE\n');
});

posixTest('cleanEnvironment')('runs a command with nothing of this environment', async () => {
  const program = programOf(`
    import { readdirSync, readFileSync } from 'node:fs';
    console.error(readFileSync(0, 'utf8'));
    console.log(JSON.stringify([process.argv.slice(2), Object.keys(process.env).sort(), readdirSync(process.env.HOME)]));
    process.exitCode = 2;
  `);
  const result = await runCli(['ask', 'x'], { program, env: { MINE: '1' }, stdin: 'typed' });
  expect(result).toEqual({
    code: 2,
    signal: null,
    stdout: '[["ask","x"],["HOME","MINE","PATH"],[]]\n',
    stderr: 'typed\n',
  });
});
