import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { STDIO_SERVER } from '../../support/process-tree.ts';
import { runCli } from '../../support/run-cli.ts';
import { scriptedServer } from '../../support/scripted-mcp.ts';
import { startModernServer } from '../../support/servers/remote-servers.ts';
import { newFile, newFolder } from '../files.ts';
import { CONVERSATION, configFile, conversationApi, SEARCH_NOTES } from '../grounding/kit.ts';
import { apiEnv, serve } from '../serve.ts';
import { stdioServer } from './serve-gateway.ts';
import { configure } from './servers.ts';
import { CHANGED, end, namesIn, newUser, untilListed } from './user.ts';

const MODERN = {
  _meta: {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  },
};
const LISTEN = {
  jsonrpc: '2.0',
  id: 'listening',
  method: 'subscriptions/listen',
  params: {
    notifications: { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true },
    ...MODERN,
  },
};

/** A configuration with a server that starts when the file exists. */
function configureHeld() {
  const held = path.join(newFolder(), 'released');
  const over = { args: [STDIO_SERVER, '--tools=exposed', `--held=${held}`] };
  return { ...configure(['one'], { over }), release: () => writeFileSync(held, '') };
}

test('a client of 2026-07-28 that listens learns of a server that has started after its list', async () => {
  const { config, release } = configureHeld();
  const server = serve({ args: ['--stdio', '--offline', '--expose', '--config', config] });
  server.send(LISTEN);
  const list = async () => JSON.stringify((await server.request('tools/list', MODERN)).result);
  expect(await list()).not.toContain('one__echo');
  release();
  await server.waitFor(({ method, params }) => method === CHANGED && JSON.stringify(params).includes('"listening"'));
  expect(await list()).toContain('one__echo');
});

test('what is older than a day is in the list at once, and is read again', async () => {
  const { config, started, release } = configureHeld();
  const user = newUser(config);
  release();
  await user.run('tools');
  const [file = ''] = user.kept();
  const kept = () => JSON.parse(readFileSync(file, 'utf8')) as { readonly listedAt: string };
  const old = new Date(Date.now() - 25 * 60 * 60 * 1000).toISOString();
  writeFileSync(file, JSON.stringify({ ...kept(), listedAt: old }));
  const server = await user.session();
  expect(await namesIn(server)).toContain('one__echo');
  await expect.poll(() => kept().listedAt).not.toBe(old);
  expect(started()).toHaveLength(2);
  await end(server);
});

test('a remote server connects with the first list, although its lists are kept', async () => {
  const remote = await startModernServer();
  const user = newUser(newFile('config.yaml', JSON.stringify({ servers: [{ name: 'web', url: remote.url }] })));
  expect((await user.run('tools')).code).toBe(0);
  const { length } = remote.seen;
  const server = await user.session();
  expect(await namesIn(server)).toContain('web__echo');
  await expect.poll(() => remote.seen.slice(length).map(({ method }) => method)).toContain('tools/list');
});

test('where nothing can be kept, servers start with every session, and each says so once', async () => {
  const { config, started } = configure(['one', 'two']);
  const user = newUser(config);
  user.closeFolder();
  for (const starts of [2, 4]) {
    const server = await user.session();
    for (const name of ['one', 'two']) await untilListed(server, `${name}__echo`);
    await end(server);
    expect(server.stderr().match(/the lists of servers cannot be kept in /g)).toHaveLength(1);
    expect(started()).toHaveLength(starts);
  }
});

test('idle_ms ends no server during a call, and one that nobody calls although a client listens', async () => {
  const [busy, unused] = [stdioServer('busy', [], { idle_ms: 300 }), stdioServer('unused', [], { idle_ms: 300 })];
  const config = newFile('config.yaml', JSON.stringify({ servers: [busy.entry, unused.entry] }));
  const server = serve({ args: ['--stdio', '--offline', '--expose', '--config', config] });
  server.send(LISTEN);
  const waiting = server.callTool('busy__wait', {}, MODERN._meta, 'waiting');
  await expect
    .poll(async () => JSON.stringify(await server.callTool('busy__running', {}, MODERN._meta)))
    .toContain('"calls":1');
  expect((await server.callTool('unused__echo', { text: 'a' }, MODERN._meta)).error).toBeUndefined();
  await expect.poll(() => unused.tree.pids()).toEqual([]);
  expect(busy.tree.pids()).toHaveLength(1);
  server.notify('notifications/cancelled', { requestId: 'waiting' });
  await expect.poll(() => busy.tree.pids()).toEqual([]);
  server.closeStdin();
  await server.exited;
  await expect(waiting).rejects.toThrow();
  expect(server.messages.filter(({ id }) => id === 'listening')).toHaveLength(1);
});

test('doctor starts every server, and says how its tools differ from those that were kept', async () => {
  const { config, started } = configure(['one', 'two']);
  const user = newUser(config);
  const server = await user.session();
  await server.callTool('one__more');
  for (const name of ['one__added', 'two__echo']) await untilListed(server, name);
  await end(server);
  const { code, stdout } = await user.run('doctor', '--offline');
  expect(code).toBe(0);
  expect(stdout).toContain('ok    server two: 11 tools (stdio)\n');
  expect(stdout).toContain('note  server one: its tools have changed since its last start (gone: added)\n');
  expect(started()).toHaveLength(4);
});

test('an answer offers what is kept, and starts only what the model calls', async () => {
  const api = await conversationApi();
  api.script(CONVERSATION);
  const servers = { notes: scriptedServer([SEARCH_NOTES]), other: scriptedServer([SEARCH_NOTES]) };
  const entries = Object.entries(servers).map(([name, { command, args }]) => ({ name, command, args }));
  const config = configFile({ grounding: { tools: { notes: 'all', other: 'all' } }, more: { servers: entries } });
  const user = newUser(config);
  await user.run('tools');
  const starts = () =>
    Object.values(servers).map((server) => server.events().filter(({ event }) => event === 'start').length);
  expect(starts()).toEqual([1, 1]);
  const question = 'When do we deploy next week, and is that a holiday?';
  const asked = await runCli(['ask', '--config', config, question], { env: { ...apiEnv(api), ...user.env } });
  expect(asked).toMatchObject({ code: 0, stdout: expect.stringContaining('We deploy on Tuesday.') });
  expect(JSON.stringify(api.requests[0]?.body)).toMatch(/"notes__search_notes".*"other__search_notes"/);
  expect(starts()).toEqual([2, 1]);
});
