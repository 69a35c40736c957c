import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { McpProcess } from '../../support/mcp-process.ts';
import { posixTest } from '../../support/platform.ts';
import { isRunning } from '../../support/process-tree.ts';
import { newFile } from '../files.ts';
import { serve } from '../serve.ts';
import { stdioServer } from './serve-gateway.ts';
import { configure } from './servers.ts';

const ANSWERS = ['answer', 'answer_detailed', 'answer_quick'];
const MODERN = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
const ALL = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };

async function namesIn(server: McpProcess): Promise<readonly string[]> {
  const { result = {} } = await server.request('tools/list');
  return (result.tools as { name: string }[]).map(({ name }) => name);
}

/** A list does not wait for a slow start. */
const untilListed = (server: McpProcess, count: number) => expect.poll(() => namesIn(server)).toHaveLength(count);

test('servers start with the first list, not earlier, and end with the program', async () => {
  const { config, started } = configure(['one', 'two']);
  const server = serve({ args: ['--stdio', '--offline', '--expose', '--config', config] });
  const { result } = await server.initialize();
  // What the servers have is not known yet.
  const listChanged = { listChanged: true };
  expect(result?.capabilities).toEqual({
    tools: listChanged,
    resources: listChanged,
    prompts: listChanged,
    completions: {},
  });
  await server.request('ping');
  expect((await server.callTool('none')).error).toMatchObject({ code: -32601 });
  expect(started()).toEqual([]);

  await untilListed(server, 3 + 2 * 11);
  expect(started()).toHaveLength(2);

  server.closeStdin();
  expect(await server.exited).toEqual({ code: 0, signal: null });
  expect(started().filter(isRunning)).toEqual([]);
  expect({ junk: server.junk, stderr: server.stderr() }).toEqual({ junk: [], stderr: '' });
});

// S21
test('a client of 2026-07-28 listens to changed lists, until it cancels or the input ends', async () => {
  const { config } = configure(['one']);
  const server = serve({ args: ['--stdio', '--offline', '--expose', '--config', config] });
  const send = (message: object) => server.send({ jsonrpc: '2.0', ...message });
  const meta = { _meta: MODERN };
  const { result } = await server.request('server/discover', meta);
  expect(result?.capabilities).toMatchObject({ tools: { listChanged: true }, prompts: { listChanged: true } });
  for (const id of ['a', 'b']) send({ id, method: 'subscriptions/listen', params: { notifications: ALL, ...meta } });
  await server.request('tools/list', meta);
  await server.callTool('one__more', {}, MODERN);
  const changed = (id: string) => (message: { method?: string; params?: { _meta?: object } }) =>
    message.method === 'notifications/tools/list_changed' && JSON.stringify(message.params?._meta).includes(`"${id}"`);
  await server.waitFor(changed('a'));
  await server.waitFor(changed('b'));
  send({ method: 'notifications/cancelled', params: { requestId: 'a' } });
  server.closeStdin();
  expect(await server.exited).toEqual({ code: 0, signal: null });
  const ended = server.messages.filter((message) => ['a', 'b'].includes(String(message.id)));
  expect(ended.map(({ id }) => id)).toEqual(['b']);
});

test.each([
  ['without --expose', [], {}],
  ['without servers', ['--expose'], { servers: [] }],
])('%s there are three tools, and no process is started', async (_, args, yaml) => {
  const { config, started } = configure(['one'], { yaml });
  const server = serve({ args: ['--stdio', '--offline', ...args, '--config', config] });
  const { result } = await server.initialize();
  expect(result?.capabilities).toEqual({ tools: {} });
  expect(await namesIn(server)).toEqual(ANSWERS);
  expect((await server.callTool('one__echo', { message: 'a' })).error).toMatchObject({ code: -32601 });
  server.closeStdin();
  await server.exited;
  expect(started()).toEqual([]);
});

test.each([
  ['without servers no part of the gateway is', false, []],
  ['with servers the gateway is', true, expect.arrayContaining(['gateway'])],
])('%s loaded', async (_, hasServers, expected) => {
  // Writes the name of each file of the program that is loaded.
  const hook = newFile(
    'hook.cjs',
    `const { _extensions } = require('node:module');
     const load = _extensions['.js'];
     _extensions['.js'] = (module, file) => {
       if (/chunks/.test(file)) process.stderr.write('loaded ' + require('node:path').basename(file) + '\\n');
       return load(module, file);
     };`,
  );
  const config = hasServers ? ['--config', configure(['one']).config] : [];
  const env = { NODE_OPTIONS: `--require ${hook}` };
  const server = serve({ args: ['--stdio', '--expose', ...config], env });
  await server.initialize();
  await server.request('tools/list');
  server.closeStdin();
  await server.exited;
  const loaded = [...server.stderr().matchAll(/^loaded (.*)$/gm)].map(([, name = '']) =>
    name.replace(/-[\w-]{8}\.js$/, ''),
  );
  expect(loaded.filter((name) => /gateway|expos|ajv|mcp|child/.test(name))).toEqual(expected);
});

describe('a server that runs until SIGTERM', () => {
  async function startWith(...behaviours: readonly string[]) {
    const { entry, tree } = stdioServer('server', behaviours);
    const config = newFile('config.yaml', JSON.stringify({ servers: [entry] }));
    const server = serve({ args: ['--stdio', '--offline', '--expose', '--config', config] });
    await server.initialize();
    return { server, tree };
  }

  // Codex kills a server about 50 ms after SIGTERM, and Claude Code 500 ms after SIGINT. A busy machine needs more, and after 2000 the
  // server would get SIGTERM in any case.
  const KILL_MS = 1900;

  posixTest('signals').each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'is not left if the client sends %s and kills soon after',
    async (signal) => {
      const { server, tree } = await startWith('idle-after-input', 'with-child');
      await server.request('tools/list');
      await expect.poll(() => tree.pids()).toHaveLength(2);
      server.kill(signal);
      await sleep(KILL_MS);
      server.kill('SIGKILL');
      await server.exited;
      while (tree.pids().length > 0) await sleep(10);
    },
  );

  posixTest('signals')('is not left if it was just being started', async () => {
    const { server, tree } = await startWith('never-initialize', 'idle-after-input');
    void server.request('tools/list').catch(() => {});
    while (tree.pids().length === 0) await sleep(10);
    server.kill('SIGTERM');
    await sleep(KILL_MS);
    server.kill('SIGKILL');
    await server.exited;
    while (tree.pids().length > 0) await sleep(10);
  });

  posixTest('signals')('gets SIGTERM as soon as the input has ended and its calls are answered', async () => {
    const { server, tree } = await startWith('idle-after-input');
    const steps = server.callTool('server__steps');
    await server.request('ping');
    server.closeStdin();
    expect((await steps).result?.isError).toBeUndefined();
    await sleep(KILL_MS);
    server.kill('SIGKILL');
    await server.exited;
    while (tree.pids().length > 0) await sleep(10);
  });
});
