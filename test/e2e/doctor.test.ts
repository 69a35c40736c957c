import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { startLocalIssuer } from '../contract/local-issuer.ts';
import { answers } from '../support/behaviours.ts';
import { startCleanProcess } from '../support/clean-process.ts';
import { posixTest } from '../support/platform.ts';
import { runCli } from '../support/run-cli.ts';
import { newFile } from './files.ts';
import { API_KEY, apiEnv, fakeApi } from './serve.ts';

test('asks one question, prints one line per check, and shows no key', async () => {
  const api = await fakeApi();
  const citations = [{ url: 'https://nodejs.org/', title: 'Node.js' }];
  api.reply(answers('Node.js 24.', { citations }));
  const config = newFile('config.yaml', 'model_profiles: {answer_detailed: {model: gpt-6}}\n');
  const { code, stdout, stderr } = await runCli(['doctor', '--config', config], { env: apiEnv(api) });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.split('\n')).toEqual([
    `ok    node: ${process.versions.node}`,
    `ok    configuration: valid (defaults; ${config}; environment: OPENAI_BASE_URL, OPENAI_API_KEY; options: --config)`,
    expect.stringMatching(/^note {2}tool_errors: /),
    'ok    key: found in OPENAI_API_KEY',
    expect.stringMatching(/^ok {4}connection: 127\.0\.0\.1:\d+ can be reached$/),
    'skip  model gpt-5.2: this server does not list its models',
    'skip  model gpt-6: this server does not list its models',
    expect.stringMatching(/^ok {4}web search: answered with 1 source in \d+\.\d s$/),
    '',
  ]);
  expect(api.requests.map(({ method }) => method)).toEqual(['GET', 'GET', 'GET', 'POST']);
  expect(stdout).not.toContain(API_KEY.slice(0, 12));
});

test('a configuration that is invalid is a check like the others, also as JSON', async () => {
  const env = { OPENAI_API_KEY: API_KEY, MAX_CITATIONS: '99' };
  const shown = await runCli(['doctor'], { env });
  expect(shown.code).toBe(1);
  expect(shown.stdout).toMatch(/^ok {4}node: .*\nFAIL {2}configuration: MAX_CITATIONS: got "99", expected /);
  const { code, stdout } = await runCli(['doctor', '--json'], { env });
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, checks: [{}, { name: 'configuration', verdict: 'failed' }] });
});

posixTest('signals')('Ctrl-C ends it at once, with exit code 130', async () => {
  const server = createServer((request, response) => {
    if (request.url === '/v1/models') response.end('{"data":[]}');
    else server.emit('asked');
  }).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const asked = once(server, 'asked');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const env = { OPENAI_API_KEY: API_KEY, OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1` };
  const { child, exited, removeHome } = startCleanProcess(['doctor'], { env, timeoutMs: 150_000 });
  onTestFinished(removeHome);
  const output = Promise.all([text(child.stdout), text(child.stderr)]);
  await asked;
  child.kill('SIGINT');
  expect(await exited).toEqual({ code: 130, signal: null });
  expect((await output)[0]).toMatch(/ok {4}connection: [^\n]*\n$/);
});

test('http.oauth: the keys of the issuer are read, and it is a failure if they cannot be', async () => {
  const issuer = await startLocalIssuer();
  onTestFinished(() => issuer.close());
  const { url, pages } = issuer;
  pages.set('/.well-known/oauth-authorization-server', { issuer: url, jwks_uri: `${url}/keys` });
  pages.set('/keys', { keys: [{ kty: 'RSA' }] });
  const config = newFile('config.yaml', `http: { oauth: { issuer: "${url}", audience: "https://mcp.example/mcp" } }\n`);
  const run = () => runCli(['doctor', '--offline', '--config', config]);
  const working = await run();
  expect(working.stdout).toContain(`ok    oauth: ${url} publishes 1 key; tokens must be for https://mcp.example/mcp\n`);
  pages.set('/keys', 503);
  const failing = await run();
  expect(failing.stdout).toContain(`(${url}/keys has the status 503).`);
  expect([working.code, failing.code]).toEqual([0, 1]);
});
