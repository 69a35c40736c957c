import { expect, onTestFinished, test } from 'vitest';
import { answers } from '../support/behaviours.ts';
import { startForwardProxy } from '../support/forward-proxy.ts';
import { runCli } from '../support/run-cli.ts';
import { API_KEY, answerOf, closedPort, serveWithApi } from './serve.ts';

test('HTTP_PROXY leads the calls through the proxy', async () => {
  const proxy = await startProxy();
  const { api, server } = await serveWithApi({ env: { HTTP_PROXY: proxy.url } });
  api.replyAlways(answers('Through the proxy.'));
  expect(answerOf(await server.callTool('answer', { query: 'q' })).answer).toBe('Through the proxy.');
  expect(proxy.seen).toEqual([expect.stringContaining(new URL(api.url).host)]);
  expect(server.stderr()).toBe('');
});

test('NO_PROXY bypasses the proxy', async () => {
  const proxy = await startProxy();
  const { api, server } = await serveWithApi({ env: { HTTP_PROXY: proxy.url, NO_PROXY: '127.0.0.1' } });
  api.replyAlways(answers('Directly.'));
  expect(answerOf(await server.callTool('answer', { query: 'q' })).answer).toBe('Directly.');
  expect(proxy.seen).toEqual([]);
});

test('a proxy that cannot be reached is named', async () => {
  const port = await closedPort();
  const env = {
    OPENAI_API_KEY: API_KEY,
    OPENAI_BASE_URL: 'http://api.example.test/v1',
    OPENAI_MAX_RETRIES: '0',
    HTTP_PROXY: `http://127.0.0.1:${port}`,
  };
  const { code, stdout, stderr } = await runCli(['ask', 'q'], { env });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(
    new RegExp(
      `^\\[.* WARN openai\\.base_url begins with http://.* unencrypted\\nCould not connect to api\\.example\\.test via the proxy 127\\.0\\.0\\.1:${port} \\(1 attempt, ECONNREFUSED\\)\\.`,
    ),
  );
});

test.for([
  ['ask', ['ask', 'q']],
  ['doctor', ['doctor']],
  ['--stdio', ['--stdio']],
] as const)('a proxy URL that cannot be decoded is a problem of the configuration: %s', async ([, args]) => {
  const env = { OPENAI_API_KEY: API_KEY, HTTPS_PROXY: 'http://user:100%@127.0.0.1:9' };
  const { code, stdout, stderr } = await runCli(args, { env });
  expect(code).toBe(1);
  expect(stdout + stderr).toMatch(
    /HTTPS_PROXY: got "http:\/\/\[redacted\]@127\.0\.0\.1:9", expected the URL of a proxy/,
  );
  expect(stdout + stderr).not.toMatch(/URIError|internal error|100%|^\s+at /m);
});

async function startProxy() {
  const proxy = await startForwardProxy();
  onTestFinished(() => proxy.close());
  return proxy;
}
