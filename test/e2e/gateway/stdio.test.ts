import { expect, test } from 'vitest';
import { modern } from '../../support/http-client.ts';
import type { McpProcess } from '../../support/mcp-process.ts';
import { posixTest } from '../../support/platform.ts';
import { isRunning } from '../../support/process-tree.ts';
import { newFile } from '../files.ts';
import { serve } from '../serve.ts';
import { stdioServer } from './serve-gateway.ts';
import { configure } from './servers.ts';
import { namesIn } from './user.ts';

const ANSWERS = ['answer', 'answer_detailed', 'answer_quick'];
test('servers start with the first list, not earlier, and end with the program', async () => {
  const { config, started } = configure(['one', 'two']);
  const server = serve({ args: ['--stdio', '--offline', '--expose', '--config', config] });
  const { result } = await server.initialize();
  // What the servers have is not known yet.
  const changes = { listChanged: true };
  expect(result?.capabilities).toEqual({ tools: changes, resources: changes, prompts: changes, completions: {} });
  await server.request('ping');
  expect((await server.callTool('none')).error).toMatchObject({ code: -32601 });
  expect(started()).toEqual([]);

  // A list does not wait for a slow start.
  await expect.poll(() => namesIn(server)).toHaveLength(3 + 2 * 11);
  expect(started()).toHaveLength(2);

  server.closeStdin();
  expect(await server.exited).toEqual({ code: 0, signal: null });
  expect(started().filter(isRunning)).toEqual([]);
  expect({ junk: server.junk, stderr: server.stderr() }).toEqual({ junk: [], stderr: '' });
});

// S21
test('a client of 2026-07-28 listens to changed lists, until the input ends', async () => {
  const { config } = configure(['one']);
  const server = serve({ args: ['--stdio', '--offline', '--expose', '--config', config] });
  const listen = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
  server.send(modern('subscriptions/listen', { notifications: listen }, {}, 'listening'));
  await server.request('tools/list', modern('tools/list').params);
  await server.callTool('one__more', {}, modern('tools/call').params._meta);
  await server.waitFor(
    ({ method, params }) =>
      method === 'notifications/tools/list_changed' && JSON.stringify(params).includes('"listening"'),
  );
  server.closeStdin();
  expect(await server.exited).toEqual({ code: 0, signal: null });
  expect(server.messages.filter(({ id }) => id === 'listening')).toHaveLength(1);
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

posixTest('signals').each([
  ['SIGINT', (server: McpProcess) => server.kill('SIGINT')],
  ['SIGTERM', (server: McpProcess) => server.kill('SIGTERM')],
  ['SIGHUP', (server: McpProcess) => server.kill('SIGHUP')],
  ['the end of its input', (server: McpProcess) => server.closeStdin()],
])('%s ends a server that runs until SIGTERM before the client kills the program', async (_, endProgram) => {
  const { entry, tree } = stdioServer('server', ['idle-after-input']);
  const config = newFile('config.yaml', JSON.stringify({ servers: [entry] }));
  const server = serve({ args: ['--stdio', '--offline', '--expose', '--config', config] });
  await server.initialize();
  await server.request('tools/list');
  await expect.poll(() => tree.pids()).toHaveLength(1);
  endProgram(server);
  // Codex kills the program about 50 ms after SIGTERM, and Claude Code 500 ms after SIGINT. A busy machine needs more, and after 2000 ms
  // the server would get SIGTERM in any case.
  await expect.poll(() => tree.pids(), { timeout: 1900 }).toEqual([]);
  await server.exited;
});
