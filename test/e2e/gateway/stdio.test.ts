import { expect, test } from 'vitest';
import { isRunning } from '../../support/process-tree.ts';
import { newFile } from '../files.ts';
import { serve } from '../serve.ts';
import { configure } from './servers.ts';

const ANSWERS = ['answer', 'answer_detailed', 'answer_quick'];
const namesOf = ({ result = {} }: { readonly result?: Record<string, unknown> }) =>
  (result.tools as { name: string }[]).map(({ name }) => name);

test('servers start with the first list, not earlier, and end with the program', async () => {
  const { config, started } = configure(['one', 'two']);
  const server = serve({ args: ['--stdio', '--expose', '--config', config] });
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

  expect(namesOf(await server.request('tools/list'))).toHaveLength(3 + 2 * 11);
  expect(started()).toHaveLength(2);
  // The list contains what has started, so that there is nothing to announce.
  expect(server.notifications).toEqual([]);

  server.closeStdin();
  expect(await server.exited).toEqual({ code: 0, signal: null });
  expect(started().filter(isRunning)).toEqual([]);
  expect({ notifications: server.notifications, junk: server.junk, stderr: server.stderr() }).toEqual({
    notifications: [],
    junk: [],
    stderr: '',
  });
});

test('the first call of a tool starts the servers, too', async () => {
  const { config, started } = configure(['one']);
  const server = serve({ args: ['--stdio', '--expose', '--config', config] });
  await server.initialize();
  const { result } = await server.callTool('one__echo', { message: 'Hello.' });
  expect(result).toEqual({ content: [{ type: 'text', text: 'Hello.' }] });
  expect(started()).toHaveLength(1);
});

test('a changed list is announced to clients of the era that has announcements', async () => {
  const { config } = configure(['one']);
  const server = serve({ args: ['--stdio', '--expose', '--config', config] });
  await server.initialize();
  const before = namesOf(await server.request('tools/list'));
  await server.callTool('one__more');
  await server.waitFor(({ method }) => method === 'notifications/tools/list_changed');
  const after = namesOf(await server.request('tools/list'));
  expect(after.filter((name) => !before.includes(name))).toEqual(['one__added']);
  expect(server.notifications).toEqual([{ jsonrpc: '2.0', method: 'notifications/tools/list_changed', params: {} }]);
});

test('a server that cannot start is missing in the list, and its tools name the code', async () => {
  const over = { command: 'no-such-command-a1b2', restart: 'never' };
  const { config } = configure(['broken', 'one'], { over });
  const server = serve({ args: ['--stdio', '--expose', '--config', config] });
  await server.initialize();
  expect(namesOf(await server.request('tools/list'))).toHaveLength(3 + 11);
  const { result } = await server.callTool('broken__echo');
  expect(result?.isError).toBe(true);
  expect(JSON.stringify(result?.content)).toMatch(/SERVER_NOT_RUNNING: .*no-such-command-a1b2/);
});

test.each([
  ['without --expose', [], {}],
  ['without servers', ['--expose'], { servers: [] }],
])('%s there are three tools, and no process is started', async (_, args, yaml) => {
  const { config, started } = configure(['one'], { yaml });
  const server = serve({ args: ['--stdio', ...args, '--config', config] });
  const { result } = await server.initialize();
  expect(result?.capabilities).toEqual({ tools: {} });
  expect(namesOf(await server.request('tools/list'))).toEqual(ANSWERS);
  expect((await server.callTool('one__echo', { message: 'a' })).error).toMatchObject({ code: -32601 });
  server.closeStdin();
  await server.exited;
  expect(started()).toEqual([]);
});

test('gateway.expose in the file is the same as the option', async () => {
  const { config } = configure(['one'], { yaml: { gateway: { expose: true } } });
  const server = serve({ args: ['--stdio', '--config', config] });
  await server.initialize();
  expect(namesOf(await server.request('tools/list'))).toHaveLength(3 + 11);
});

test.each([
  ['without servers no part of the gateway is', false, []],
  ['with servers the gateway is', true, expect.arrayContaining(['exposure.js', 'gateway.js'])],
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
  const loaded = [...server.stderr().matchAll(/^loaded (.*)$/gm)].map(([, name = '']) => name);
  expect(loaded.filter((name) => /gateway|expos|ajv|mcp|child/.test(name))).toEqual(expected);
});
