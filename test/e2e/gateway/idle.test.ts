import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { HOME_VARIABLE } from '../../support/platform.ts';
import { STDIO_SERVER } from '../../support/process-tree.ts';
import { newFile, newFolder } from '../files.ts';
import { startGatewayProcess, stdioServer } from './serve-gateway.ts';
import { configure } from './servers.ts';
import { CHANGED, end, namesIn, newUser, untilListed } from './user.ts';

test('lists are there at once in the next session, and no server runs before it is called', async () => {
  const held = path.join(newFolder(), 'released');
  const six = ['a', 'b', 'c', 'd', 'e', 'slow'];
  const { config, started } = configure(six, {
    last: { args: [STDIO_SERVER, '--tools=exposed', `--held=${held}`] },
  });
  const user = newUser(config);
  const first = await user.session();
  expect(await namesIn(first)).not.toContain('slow__echo');
  writeFileSync(held, '');
  for (const name of six) await untilListed(first, `${name}__echo`);
  await end(first);
  rmSync(held);
  expect(started()).toHaveLength(6);

  const second = await user.session();
  const names = await namesIn(second);
  expect(names).toHaveLength(3 + 6 * 11);
  const calling = second.callTool('slow__echo', { message: 'Hello.' }, { progressToken: 'p' });
  await second.waitFor(({ params }) => (params as { message?: string } | undefined)?.message === 'Starting slow');
  await expect.poll(started).toHaveLength(7);
  writeFileSync(held, '');
  expect((await calling).result).toEqual({ content: [{ type: 'text', text: 'Hello.' }] });
  expect(await namesIn(second)).toEqual(names);
  await end(second);
  expect(started()).toHaveLength(7);
  expect(second.notifications.filter(({ method }) => method === CHANGED)).toEqual([]);
  expect(second.stderr()).toBe('');
});

test('a tool that is gone is TOOL_NOT_FOUND, the list changes, and one line says how', async () => {
  const { config } = configure(['one']);
  const user = newUser(config);
  const first = await user.session();
  await first.callTool('one__more');
  await untilListed(first, 'one__added');
  await end(first);

  const second = await user.session();
  expect(await namesIn(second)).toContain('one__added');
  const { result } = await second.callTool('one__added');
  expect(result?.isError).toBe(true);
  expect(JSON.stringify(result)).toContain('TOOL_NOT_FOUND: The server one no longer has the tool');
  await second.waitFor(({ method }) => method === CHANGED);
  expect(await namesIn(second)).not.toContain('one__added');
  await end(second);
  expect(second.stderr().trim().split('\n')).toEqual([
    expect.stringMatching(/gateway: one: its tools have changed since its last start \(gone: added\)$/),
  ]);
});

test.each([
  ['a file that was cut', (file: string) => truncateSync(file, 100)],
  ['no file', (file: string) => rmSync(file)],
])('with %s, servers start as if nothing were kept', async (_, damage) => {
  const { config, started } = configure(['one']);
  const user = newUser(config);
  await user.run('tools');
  for (const file of user.kept()) damage(file);
  const server = await user.session();
  await untilListed(server, 'one__echo');
  expect(started()).toHaveLength(2);
  expect(server.stderr()).toBe('');
  await end(server);
  expect(user.kept()).toHaveLength(1);
});

test('several processes use one folder', async () => {
  const { config, started } = configure(['one', 'two']);
  const user = newUser(config);
  const sessions = await Promise.all([user.session(), user.session(), user.session()]);
  await Promise.all(sessions.map((server) => untilListed(server, 'two__echo')));
  await Promise.all(sessions.map((server) => server.callTool('one__echo', { message: 'a' })));
  await Promise.all(sessions.map(end));
  const before = started().length;
  const last = await user.session();
  expect(await namesIn(last)).toHaveLength(3 + 2 * 11);
  await end(last);
  expect(started()).toHaveLength(before);
  for (const file of user.kept()) expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ version: 1 });
});

test('idle_ms stops the whole process tree of a server, and the next call starts it again', async () => {
  const { entry, tree } = stdioServer('server', ['with-child'], { idle_ms: 300 });
  const config = newFile('config.yaml', JSON.stringify({ servers: [entry] }));
  const server = await newUser(config).session();
  for (let round = 0; round < 2; round += 1) {
    expect((await server.callTool('server__echo', { text: 'a' })).result?.isError).toBeUndefined();
    await expect.poll(() => tree.pids()).toEqual([]);
  }
});

describe('over HTTP', () => {
  test('servers start with the program, but for those with start: on_use', async () => {
    const cwd = newFolder();
    const now = stdioServer('now', [], { cwd });
    const later = stdioServer('later', [], { cwd, start: 'on_use' });
    const env = { [HOME_VARIABLE]: newFolder() };
    const first = await startGatewayProcess([now.entry, later.entry], { env });
    for (const name of ['now', 'later']) await first.untilState(name, 'available');
    first.kill();
    await first.exited;
    const second = await startGatewayProcess([now.entry, later.entry], { env });
    await second.untilState('now', 'available');
    expect(await second.untilState('later', 'idle')).toMatchObject({ listedAt: expect.any(String) });
    expect(later.tree.pids()).toEqual([]);
    expect((await second.call('later', 'echo', { text: 'a' })).status).toBe(200);
    await second.untilState('later', 'available');
  });
});

describe('tools', () => {
  test('shows what is kept with its age, and starts only servers without an entry, or all with --fresh', async () => {
    const { config, started } = configure(['one', 'two']);
    const user = newUser(config);
    expect((await user.run('tools', 'one')).stdout).toMatch(/^one: available \(stdio\)\n/);
    const { code, stdout } = await user.run('tools');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^one: idle \(stdio, listed [\d.]+ m?s ago\)\n {2}echo: Says it again\.\n/);
    expect(stdout).toContain('\ntwo: available (stdio)\n');
    expect(stdout).toContain('\nIdle servers start with their first call. ');
    const one = await user.run('tools', 'one', 'echo');
    expect(one.stdout).toMatch(/^one: idle \(stdio, listed [\d.]+ m?s ago\)\none\/echo: .*\nIdle servers start /s);
    expect(started()).toHaveLength(2);
    expect((await user.run('tools', '--fresh')).stdout).not.toContain('idle');
    expect(started()).toHaveLength(4);
  });

  test('of another project has other definitions', async () => {
    const { config } = configure(['one']);
    const user = newUser(config);
    await user.run('tools');
    const entry = (JSON.parse(readFileSync(config, 'utf8')) as { servers: object[] }).servers[0];
    writeFileSync(config, JSON.stringify({ servers: [{ ...entry, cwd: newFolder() }] }));
    expect((await user.run('tools')).stdout).toMatch(/^one: available/);
  });
});
