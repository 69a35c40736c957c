import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { startCleanProcess } from '../../support/clean-process.ts';
import { runCli } from '../../support/mcp-process.ts';
import { posixTest } from '../../support/platform.ts';
import { until } from '../../support/until.ts';
import { newFile, newFolder } from '../files.ts';
import { serve } from '../serve.ts';
import { startGatewayProcess, stdioServer } from './serve-gateway.ts';

type Gateway = Awaited<ReturnType<typeof startGatewayProcess>>;

/** The server, and a process in another session, whose parent has ended. */
const COUNT = 2;

function detachedServer(more: object = {}) {
  const { entry, tree } = stdioServer('server', ['with-daemon'], more);
  return { entry, tree, config: newFile('config.yaml', JSON.stringify({ servers: [entry] })) };
}

// S56. On other systems, processes that left the group are not found.
describe.skipIf(process.platform !== 'linux')('nothing of a server with a browser of its own is left', () => {
  test.each<[string, (gateway: Gateway) => Promise<unknown> | unknown]>([
    ['SIGTERM', ({ kill }) => kill('SIGTERM')],
    ['SIGINT', ({ kill }) => kill('SIGINT')],
    ['two signals', ({ kill }) => [kill('SIGTERM'), kill('SIGTERM')]],
  ])('over HTTP, after %s', async (_, end) => {
    const { entry, tree } = detachedServer();
    const gateway = await startGatewayProcess([entry]);
    await until(() => tree.pids().length === COUNT);
    await end(gateway);
    expect((await gateway.exited).code).toBe(0);
    await expect.poll(() => tree.pids()).toEqual([]);
  });

  test.each<[string, object, (gateway: Gateway) => Promise<unknown>]>([
    ['a crash', { restart: 'never' }, ({ call }) => call('server', 'exit')],
    ['a SIGKILL', { restart: 'never' }, ({ call }) => call('server', 'kill')],
    ['idle_ms', { idle_ms: 50 }, ({ call }) => call('server', 'echo', { text: 'a' })],
  ])('over HTTP, after %s', async (_, more, end) => {
    const { entry, tree } = detachedServer(more);
    const gateway = await startGatewayProcess([entry]);
    await until(() => tree.pids().length === COUNT);
    await end(gateway);
    await expect.poll(() => tree.pids(), { timeout: 20_000 }).toEqual([]);
  });

  test.each<[string, (server: ReturnType<typeof serve>) => void]>([
    ['the end of its input', (server) => server.closeStdin()],
    ['SIGTERM', (server) => server.kill('SIGTERM')],
    ['SIGINT', (server) => server.kill('SIGINT')],
    ['the end of its reader', (server) => [server.closeStdout(), server.closeStdin()]],
  ])('over stdio, after %s', async (_, end) => {
    const { config, tree } = detachedServer();
    const server = serve({ args: ['--stdio', '--offline', '--expose', '--config', config] });
    await server.initialize();
    await server.callTool('server__echo', { text: 'a' });
    await until(() => tree.pids().length === COUNT);
    end(server);
    await server.exited;
    await expect.poll(() => tree.pids()).toEqual([]);
  });

  test('in a terminal, after a call', async () => {
    const { config, tree } = detachedServer();
    const { code } = await runCli(['call', 'server', 'echo', '{"text":"a"}', '--config', config]);
    expect(code).toBe(0);
    await expect.poll(() => tree.pids()).toEqual([]);
  });

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('in a terminal, after %s during a call', async (signal) => {
    const { config, tree } = detachedServer();
    const started = startCleanProcess(['call', 'server', 'wait', '--config', config]);
    await until(() => tree.pids().length === COUNT);
    started.child.kill(signal);
    await started.exited;
    started.removeHome();
    await expect.poll(() => tree.pids()).toEqual([]);
  });
});

posixTest('signals')('over HTTP, a server ends by itself after its input, and gets no SIGTERM', async () => {
  const farewell = path.join(newFolder(), 'farewell');
  const gateway = await startGatewayProcess([stdioServer('server', [`--farewell=${farewell}`]).entry]);
  await gateway.untilState('server', 'available');
  gateway.kill('SIGTERM');
  await gateway.exited;
  expect(readFileSync(farewell, 'utf8')).toBe('end of input\nsaved\n');
});

posixTest('signals')('over stdio, the end of its input comes before SIGTERM', async () => {
  const farewell = path.join(newFolder(), 'farewell');
  const { entry } = stdioServer('server', [`--farewell=${farewell}`]);
  const config = newFile('config.yaml', JSON.stringify({ servers: [entry] }));
  for (const end of ['SIGTERM', 'input'] as const) {
    const server = serve({ args: ['--stdio', '--offline', '--expose', '--config', config] });
    await server.initialize();
    await server.callTool('server__echo', { text: 'a' });
    expect(existsSync(farewell)).toBe(end === 'input');
    if (end === 'input') server.closeStdin();
    else server.kill('SIGTERM');
    await server.exited;
  }
  expect(readFileSync(farewell, 'utf8')).toMatch(/^(?:end of input\n(?:SIGTERM\n|saved\n)){2}$/);
});
