import { createServer } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { answers, holds } from '../../support/behaviours.ts';
import { begin, legacy, send } from '../../support/http-client.ts';
import { startHttpProcess } from '../../support/http-process.ts';
import { CONTENT, playOpenAi } from '../../support/openai-sequence.ts';
import { posixTest } from '../../support/platform.ts';
import { runCli } from '../../support/run-cli.ts';
import { newFile } from '../files.ts';
import { apiEnv, fakeApi } from '../serve.ts';

const CALL = legacy('tools/call', { name: 'answer', arguments: { query: 'q' }, _meta: { progressToken: 0 } });
const QUESTION = 'What does HTTP 404 mean?';

test("answers what OpenAI's Responses API sends", async () => {
  const { url } = await startHttpProcess({ args: ['--http', '127.0.0.1:0', '--offline'] });
  const replies = await playOpenAi(url, QUESTION);
  for (const [index, reply] of replies.entries()) expect(reply).toMatchObject({ ...CONTENT[index] });
  for (const { headers } of replies) expect(headers).not.toHaveProperty('mcp-session-id');
});

test('reads its section from YAML, overridden by variables, and the token from the named variables', async () => {
  const config = newFile(
    'config.yaml',
    'http:\n  listen: 127.0.0.1:1\n  path: /tools\n  token_env: { alice: A_TOKEN }\n',
  );
  const { url, stderr } = await startHttpProcess({
    args: ['--http', '--offline', '--config', config],
    env: { MCP_HTTP_LISTEN: '127.0.0.1:0', MCP_HTTP_ALLOWED_HOSTS: 'mcp.example.com', A_TOKEN: 'token-of-alice-0123' },
  });
  expect(new URL(url).pathname).toBe('/tools');
  const Host = 'mcp.example.com';
  expect((await send(url, { body: legacy('ping'), headers: { Host } })).status).toBe(401);
  const Authorization = 'Bearer token-of-alice-0123';
  expect((await send(url, { body: legacy('ping'), headers: { Host, Authorization } })).status).toBe(200);
  expect(stderr()).not.toContain('token-of-alice');
});

// S23
describe('a start that must fail exits with 1 and the reason', () => {
  test.each([
    ['an invalid address', ['--http=nowhere:x'], {}, '--http (http.listen): got "nowhere:x", expected host:port'],
    ['an open address without a token', ['--http=0.0.0.0:0'], {}, 'so a token is required: set MCP_HTTP_TOKEN to'],
    [
      'a host that does not exist',
      ['--http=no-such-host.invalid:0'],
      { MCP_HTTP_TOKEN_ENV: 'T', T: 'token-0123456789-0123456789' },
      'Cannot listen',
    ],
  ] as const)('%s', async (_, args, env, words) => {
    const { code, stdout, stderr } = await runCli(args, { env });
    expect(stderr).toContain(words);
    expect(stderr).not.toContain('    at ');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  });

  test('a port that is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    onTestFinished(() => void other.close());
    const { port } = other.address() as { readonly port: number };
    const { code, stderr } = await runCli([`--http=127.0.0.1:${port}`]);
    expect(stderr).toContain(
      `Cannot listen on 127.0.0.1 port ${port} (EADDRINUSE): another program is using this port`,
    );
    expect(code).toBe(1);
  });
});

test.for([['--http=127.0.0.1:0'], ['--show-config']])(
  'a token that was pasted in the place of the name of a variable is never shown by %s',
  async ([option = '']) => {
    for (const token of ['q3J7+abc/def=', 'af86d0c2b91e47d5a3f0c6e8d1b2a497']) {
      const { stdout, stderr } = await runCli([option], { env: { MCP_HTTP_TOKEN_ENV: token } });
      expect(stdout + stderr).toContain('[redacted]');
      expect(stdout + stderr).not.toContain(token.slice(0, 7));
    }
  },
);

test.for([['[::1]'], ['[0:0:0:0:0:0:0:1]']])('serves at the IPv6 address %s', async ([address = ''], { skip }) => {
  skip(!(await hasIpV6()), 'this machine has no IPv6');
  const { url } = await startHttpProcess({ args: [`--http=${address}:0`] });
  expect(url).toMatch(/^http:\/\/\[::1\]:\d+\/mcp$/);
  expect((await send(url, { body: legacy('ping') })).status).toBe(200);
});

posixTest('signals')('SIGTERM lets calls in flight be answered, and then exits with 0', async () => {
  const api = await fakeApi();
  const held = holds();
  api.replyAlways(held);
  const server = await startHttpProcess({ env: apiEnv(api) });
  const call = begin(server.url, { body: CALL });
  await api.waitForRequests(1);
  server.kill('SIGTERM');
  const readiness = new URL('/readyz', server.url).href;
  await expect.poll(async () => (await send(readiness, { method: 'GET' })).status).toBe(503);
  expect((await send(server.url, { body: CALL })).status).toBe(503);
  held.release(answers('In time.'));
  expect((await call.reply).events.at(-1)?.result).toMatchObject({ structuredContent: { answer: 'In time.' } });
  expect(await server.exited).toEqual({ code: 0, signal: null });
});

function hasIpV6(): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false)).listen(0, '::1', () => server.close(() => resolve(true)));
  });
}
