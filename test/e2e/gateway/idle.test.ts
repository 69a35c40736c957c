import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { STDIO_SERVER } from '../../support/process-tree.ts';
import { scriptedServer } from '../../support/scripted-mcp.ts';
import { newFile, newFolder } from '../files.ts';
import { CONVERSATION, configFile, conversationApi, SEARCH_NOTES } from '../grounding/kit.ts';
import { apiEnv } from '../serve.ts';
import { stdioServer } from './serve-gateway.ts';
import { configure } from './servers.ts';
import { CHANGED, end, namesIn, newUser, untilListed } from './user.ts';

test('lists are there at once in the next session, and no server runs before it is called', async () => {
  const held = path.join(newFolder(), 'released');
  const { config, started } = configure(['fast', 'slow'], {
    last: { args: [STDIO_SERVER, '--tools=exposed', `--held=${held}`] },
  });
  const user = newUser(config);
  const first = await user.session();
  expect(await namesIn(first)).not.toContain('slow__echo');
  writeFileSync(held, '');
  for (const name of ['fast', 'slow']) await untilListed(first, `${name}__echo`);
  await end(first);
  rmSync(held);
  expect(started()).toHaveLength(2);

  const second = await user.session();
  const names = await namesIn(second);
  expect(names).toHaveLength(3 + 2 * 11);
  const calling = second.callTool('slow__echo', { message: 'Hello.' }, { progressToken: 'p' });
  await second.waitFor(({ params }) => (params as { message?: string } | undefined)?.message === 'Starting slow');
  await expect.poll(started).toHaveLength(3);
  writeFileSync(held, '');
  expect((await calling).result).toEqual({ content: [{ type: 'text', text: 'Hello.' }] });
  expect(await namesIn(second)).toEqual(names);
  await end(second);
  expect(started()).toHaveLength(3);
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

test('idle_ms stops a server that is not called, and the next call starts it again', async () => {
  const { entry, tree } = stdioServer('server', [], { idle_ms: 100 });
  const config = newFile('config.yaml', JSON.stringify({ servers: [entry] }));
  const server = await newUser(config).session();
  for (let round = 0; round < 2; round += 1) {
    expect((await server.callTool('server__echo', { text: 'a' })).result?.isError).toBeUndefined();
    await expect.poll(() => tree.pids()).toEqual([]);
  }
});

test('tools shows what is kept with its age, and starts only servers without an entry, or all with --fresh', async () => {
  const { config, started } = configure(['one', 'two']);
  const user = newUser(config);
  expect((await user.run('tools', 'one')).stdout).toMatch(/^one: available \(stdio\)\n/);
  const { code, stdout } = await user.run('tools');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^one: idle \(stdio, listed [\d.]+ m?s ago\)\n {2}echo: Says it again\.\n/);
  expect(stdout).toContain('\ntwo: available (stdio)\n');
  expect(started()).toHaveLength(2);
  expect((await user.run('tools', '--fresh')).stdout).not.toContain('idle');
  expect(started()).toHaveLength(4);
});

test('doctor starts every server, and says how its tools differ from those that were kept', async () => {
  const { config, started } = configure(['one', 'two'], { yaml: { llm: { adapter: 'offline' } } });
  const user = newUser(config);
  const server = await user.session();
  await server.callTool('one__more');
  for (const name of ['one__added', 'two__echo']) await untilListed(server, name);
  await end(server);
  const { code, stdout } = await user.run('doctor');
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
  const user = newUser(config, apiEnv(api));
  await user.run('tools');
  const starts = () =>
    Object.values(servers).map((server) => server.events().filter(({ event }) => event === 'start').length);
  expect(starts()).toEqual([1, 1]);
  const asked = await user.run('ask', 'When do we deploy next week, and is that a holiday?');
  expect(asked).toMatchObject({ code: 0, stdout: expect.stringContaining('We deploy on Tuesday.') });
  expect(JSON.stringify(api.requests[0]?.body)).toMatch(/"notes__search_notes".*"other__search_notes"/);
  expect(starts()).toEqual([2, 1]);
});
