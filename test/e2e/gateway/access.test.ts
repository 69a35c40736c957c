import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { send } from '../../support/http-client.ts';
import { startHttpProcess } from '../../support/http-process.ts';
import { runCli } from '../../support/mcp-process.ts';
import { serve } from '../serve.ts';
import { configure } from './servers.ts';

test('in the terminal, what `local` may not use does not exist, and is not started', async () => {
  const access = { local: { servers: { one: ['echo'] } } };
  const { config, started } = configure(['one', 'two'], { yaml: { access } });
  const listed = await runCli(['tools', '--config', config]);
  expect(listed).toMatchObject({ code: 0, stderr: '', stdout: 'one: available (stdio)\n  echo: Says it again.\n' });
  expect(started()).toHaveLength(1);
  const call = (server: string, tool: string) => runCli(['call', server, tool, '{"message":"x"}', '--config', config]);
  const [allowed, hidden, tool] = [await call('one', 'echo'), await call('two', 'echo'), await call('one', 'sum')];
  expect(allowed).toMatchObject({ code: 0, stdout: 'x\n' });
  expect(hidden).toMatchObject({ code: 2, stderr: 'There is no server "two". The servers are one.\n' });
  const unknown = 'The server one has no tool "sum". List its tools to see which it has.\n';
  expect(tool).toMatchObject({ code: 1, stderr: unknown });
  expect(started()).toHaveLength(2);
});

// S65
test.each([
  ['--expose', 'one__sum', {}],
  ['--expose', 'two__echo', {}],
  ['--expose', 'none__echo', {}],
  ['--expose=search', 'call_tool', { name: 'one__sum' }],
  ['--expose=search', 'read_tool', { name: 'one__sum' }],
])('over stdio with %s, a call of %s %j that `local` may not make starts no server', async (expose, tool, args) => {
  const access = { local: { servers: { one: ['echo'], three: 'all' } } };
  const { config, started } = configure(['one', 'two', 'three'], { yaml: { access } });
  const server = serve({ args: ['--stdio', '--offline', expose, '--config', config] });
  await server.initialize();
  const { error, result } = await server.callTool(tool, args);
  expect(JSON.stringify(error ?? result)).toMatch(/[Uu]nknown tool|no tool/);
  expect(started()).toEqual([]);
  expect((await server.callTool('one__echo', { message: 'x' })).result?.isError).toBeUndefined();
  expect(started().length).toBeGreaterThan(0);
});

test('over HTTP, a call that access refuses starts no idle server', async () => {
  const access = { alice: { servers: { one: ['echo'] } } };
  const yaml = { http: { token_env: { alice: 'ALICE' } }, access };
  const { config, started } = configure(['one'], { last: { idle_ms: 50 }, yaml });
  const env = { ALICE: 'alice-token-0123456789' };
  const { url } = await startHttpProcess({ args: ['--http=127.0.0.1:0', '--config', config], env });
  const headers = { Authorization: `Bearer ${env.ALICE}` };
  const call = async (toolName: string) => {
    const body = { server: 'one', toolName, input: { message: 'x' } };
    return (await send(new URL('/mcp/call', url).href, { headers, body })).status;
  };
  const state = async () => (await send(new URL('/mcp/servers', url).href, { method: 'GET', headers })).text;
  await expect.poll(state).toContain('"idle"');
  expect([await call('sum'), await call('missing')]).toEqual([404, 404]);
  expect(started()).toHaveLength(1);
  expect(await call('echo')).toBe(200);
  expect(started()).toHaveLength(2);
});

test('two tokens have different rights, which a reload changes', async () => {
  const http = { token_env: { alice: 'ALICE', bob: 'BOB' } };
  const access = { alice: { servers: { one: ['echo'] } } };
  const yaml = { http, access, gateway: { watch: true } };
  const { config } = configure(['one'], { yaml });
  const env = { ALICE: 'alice-token-0123456789', BOB: 'bob-token-0123456789' };
  const { url, stderr } = await startHttpProcess({ args: ['--http=127.0.0.1:0', '--config', config], env });
  const body = { server: 'one', toolName: 'echo', input: { message: 'x' } };
  const call = async (token: string) =>
    (await send(new URL('/mcp/call', url).href, { headers: { Authorization: `Bearer ${token}` }, body })).status;
  expect([await call(env.ALICE), await call(env.BOB)]).toEqual([200, 404]);
  const valid = JSON.parse(readFileSync(config, 'utf8')) as object;
  writeFileSync(config, JSON.stringify({ ...valid, access: { bob: { servers: { one: ['*', 'eco'] } } } }));
  await expect.poll(() => call(env.BOB)).toBe(200);
  expect(await call(env.ALICE)).toBe(404);
  await expect.poll(stderr).toContain('access: no tool of one matches eco (access.bob.servers.one)');
});
