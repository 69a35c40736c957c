import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { answers, holds } from '../../support/behaviours.ts';
import { startCleanProcess } from '../../support/clean-process.ts';
import { freePort } from '../../support/free-port.ts';
import { begin, legacy, send } from '../../support/http-client.ts';
import { startHttpProcess } from '../../support/http-process.ts';
import { CONTENT, playOpenAi } from '../../support/openai-sequence.ts';
import { posixTest } from '../../support/platform.ts';
import { runCli } from '../../support/run-cli.ts';
import { newFile } from '../files.ts';
import { apiEnv, fakeApi } from '../serve.ts';

const CALL = legacy('tools/call', { name: 'answer', arguments: { query: 'q' }, _meta: { progressToken: 0 } });

test("answers what OpenAI's Responses API sends", async () => {
  const { url } = await startHttpProcess({ args: ['--http', '127.0.0.1:0', '--offline'] });
  const replies = await playOpenAi(url, 'What does HTTP 404 mean?');
  for (const [index, reply] of replies.entries()) expect(reply).toMatchObject({ ...CONTENT[index] });
  for (const { headers } of replies) expect(headers).not.toHaveProperty('mcp-session-id');
});

test('reads its section from YAML, overridden by variables, and the token from the named variables', async () => {
  const config = newFile(
    'config.yaml',
    'http:\n  listen: 127.0.0.1:1\n  path: /tools\n  token_env: { alice: A_TOKEN }\nopenai: { api_key_env: MY_KEY }\n',
  );
  const { url, stderr } = await startHttpProcess({
    args: ['--http', '--config', config],
    env: { MCP_HTTP_LISTEN: '127.0.0.1:0', MCP_HTTP_ALLOWED_HOSTS: 'mcp.example.com', A_TOKEN: 'token-of-alice-0123' },
  });
  expect(new URL(url).pathname).toBe('/tools');
  const Host = 'mcp.example.com';
  expect((await send(url, { body: legacy('ping'), headers: { Host } })).status).toBe(401);
  const Authorization = 'Bearer token-of-alice-0123';
  expect((await send(url, { body: legacy('ping'), headers: { Host, Authorization } })).status).toBe(200);
  expect(stderr()).not.toContain('token-of-alice');
  await expect.poll(stderr).toMatch(/^No usable API key: answers will fail until you set MY_KEY/m);
  expect(stderr()).not.toContain('Only requests with the host name');
});

test('says at every address without allowed hosts which calls it accepts', async () => {
  const env = { MCP_HTTP_TOKEN: 'token-itself-0123456789' };
  const { stderr } = await startHttpProcess({ args: ['--http=0.0.0.0:0', '--offline'], env });
  await expect
    .poll(stderr)
    .toMatch(/^Only requests with the host name localhost are accepted: .*MCP_HTTP_ALLOWED_HOSTS/m);
  expect(stderr()).not.toContain('token-itself');
});

// S23
test('says at the start that a proxy would make an endpoint without a token public', async () => {
  const { url, stderr } = await startHttpProcess({ args: ['--http=127.0.0.1:0', '--offline'] });
  await expect
    .poll(stderr)
    .toMatch(/^http: no token is required: .* Behind a proxy or a tunnel, always set MCP_HTTP_TOKEN/m);
  expect((await send(url, { body: legacy('ping') })).status).toBe(200);
  expect((await send(url, { body: legacy('ping'), headers: { 'X-Forwarded-For': '203.0.113.7' } })).status).toBe(403);
  const env = { MCP_HTTP_TOKEN: 'token-itself-0123456789' };
  const other = await startHttpProcess({ args: ['--http=127.0.0.1:0', '--offline'], env });
  await expect.poll(other.stderr).toContain('page: ');
  expect(other.stderr()).not.toContain('no token is required');
});

// S23
test('a start at an open address without a token fails, with the reason', async () => {
  const { code, stdout, stderr } = await runCli(['--http=0.0.0.0:0']);
  expect(stderr).toContain('so a token is required: set MCP_HTTP_TOKEN to');
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
});

test('a start at a port that is taken fails, with the reason', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => other.once('listening', resolve));
  onTestFinished(() => void other.close());
  const { port } = other.address() as { readonly port: number };
  const { code, stderr } = await runCli([`--http=127.0.0.1:${port}`]);
  expect(stderr).toContain(`Cannot listen on 127.0.0.1 port ${port} (EADDRINUSE): another program is using this port`);
  expect(code).toBe(1);
});

test.for([['--http=127.0.0.1:0'], ['--show-config']])(
  'a token that was pasted in the place of the name of a variable is never shown by %s',
  async ([option = '']) => {
    const { stdout, stderr } = await runCli([option], { env: { MCP_HTTP_TOKEN_ENV: 'q3J7+abc/def=' } });
    expect(stdout + stderr).toContain('[redacted]');
    expect(stdout + stderr).not.toContain('q3J7+ab');
  },
);

test('serves at an IPv6 address', async ({ skip }) => {
  skip(!(await hasIpV6()), 'this machine has no IPv6');
  const { url } = await startHttpProcess({ args: ['--http=[0:0:0:0:0:0:0:1]:0'] });
  expect(url).toMatch(/^http:\/\/\[::1\]:\d+\/mcp$/);
  expect((await send(url, { body: legacy('ping') })).status).toBe(200);
});

test('with a store of quotas that is down, calls are refused, and the rest is served', async () => {
  const api = await fakeApi();
  const config = newFile('config.yaml', 'http: { quota: { calls_per_day: 9 } }');
  const { url, stderr } = await startHttpProcess({
    args: ['--http=127.0.0.1:0', '--config', config],
    env: { ...apiEnv(api), MCP_HTTP_QUOTA_STORE: `redis://127.0.0.1:${await freePort()}` },
  });
  expect((await send(url, { body: legacy('tools/list') })).status).toBe(200);
  expect((await send(url, { body: CALL })).status).toBe(503);
  expect(api.requests).toEqual([]);
  await expect.poll(stderr).toMatch(/quota: .*ECONNREFUSED.*calls are refused/);
});

posixTest('signals').for(['SIGTERM', 'SIGINT'] as const)(
  '%s lets calls in flight be answered, says what it waits for, and then exits with 0',
  async (signal) => {
    const api = await fakeApi();
    const held = holds();
    api.replyAlways(held);
    const server = await startHttpProcess({ env: { ...apiEnv(api), MCP_HTTP_DRAIN_MS: '59500' } });
    const call = begin(server.url, { body: CALL });
    await api.waitForRequests(1);
    server.kill(signal);
    const readiness = new URL('/readyz', server.url).href;
    await expect.poll(async () => (await send(readiness, { method: 'GET' })).status).toBe(503);
    await expect.poll(server.stderr).toContain('Waiting up to 60 s for 1 request in flight; another signal ends it.\n');
    expect((await send(server.url, { body: CALL })).status).toBe(503);
    held.release(answers('In time.'));
    expect((await call.reply).events.at(-1)?.result).toMatchObject({ structuredContent: { answer: 'In time.' } });
    expect(await server.exited).toEqual({ code: 0, signal: null });
  },
);

// S29
posixTest('signals')('a second signal ends a call in flight, whose line is in the access log', async () => {
  const api = await fakeApi();
  api.replyAlways(holds());
  const server = await startHttpProcess({ env: apiEnv(api) });
  const call = begin(server.url, { body: CALL });
  call.reply.catch(() => {});
  await api.waitForRequests(1);
  server.kill('SIGTERM');
  await expect.poll(server.stderr).toContain('another signal ends it.\n');
  server.kill('SIGTERM');
  expect(await server.exited).toEqual({ code: 0, signal: null });
  expect(server.stderr()).toMatch(/^\{.*"method":"tools\/call","tool":"answer",.*"outcome":"cancelled",.*\}$/m);
});

posixTest('signals')('a log whose reader is gone costs no answer', async () => {
  const { child, exited, removeHome } = startCleanProcess(['--http', '127.0.0.1:0', '--offline'], {
    timeoutMs: 150_000,
  });
  onTestFinished(removeHome);
  const [line] = await once(createInterface(child.stderr), 'line');
  const url = /http:\S+/.exec(String(line))?.[0] ?? '';
  child.stderr.destroy();
  for (let call = 0; call < 3; call += 1) expect((await send(url, { body: legacy('ping') })).status).toBe(200);
  child.kill('SIGTERM');
  expect(await exited).toEqual({ code: 0, signal: null });
});

function hasIpV6(): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false)).listen(0, '::1', () => server.close(() => resolve(true)));
  });
}

test.each([
  [[], {}, 1],
  [['local'], {}, 0],
  [['alice'], {}, 1],
  [[], { MCP_HTTP_TOKEN: 'token-0123456789' }, 1],
  [['default'], { MCP_HTTP_TOKEN: 'token-0123456789' }, 0],
])('grounding.callers: %j with %j says at the start that no caller gets own tools: %d', async (callers, env, lines) => {
  const servers = [{ name: 'notes', command: process.execPath }];
  const config = newFile('config.yaml', JSON.stringify({ servers, grounding: { tools: { notes: 'all' }, callers } }));
  const { stderr, url } = await startHttpProcess({
    args: ['--http=127.0.0.1:0', '--offline', '--config', config],
    env,
  });
  await expect.poll(stderr).toMatch(/^page: /m);
  const said = stderr().match(/^grounding: over HTTP, no caller gets .* set grounding\.callers.*$/gm) ?? [];
  expect(said).toHaveLength(lines);
  if (Object.keys(env).length > 0) return;
  // The page shows the same, and what else the configuration has.
  const { text } = await send(new URL('/mcp/servers', url).href, { method: 'GET' });
  const { warnings = [] }: { readonly warnings?: readonly string[] } = JSON.parse(text);
  expect(warnings.filter((warning) => warning.startsWith('grounding: '))).toEqual(said);
  const unknown = callers.includes('alice') ? [expect.stringMatching(/^grounding\.callers: has no effect/)] : [];
  expect(warnings.filter((warning) => warning.startsWith('grounding.callers: '))).toEqual(unknown);
});
