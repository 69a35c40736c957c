import { expect, onTestFinished, test } from 'vitest';
import { answers } from '../support/behaviours.ts';
import { startForwardProxy } from '../support/forward-proxy.ts';
import { freePort } from '../support/free-port.ts';
import { runCli } from '../support/run-cli.ts';
import { startModernServer } from '../support/servers/remote-servers.ts';
import { newFile } from './files.ts';
import { API_KEY, answerOf, serveWithApi } from './serve.ts';

test('no proxy gets requests to this machine: of the API, and of a server', async () => {
  const proxy = await startForwardProxy();
  onTestFinished(() => proxy.close());
  const remote = await startModernServer();
  const config = newFile('config.yaml', JSON.stringify({ servers: [{ name: 'remote', url: remote.url }] }));
  const env = { HTTP_PROXY: proxy.url, http_proxy: proxy.url, NO_PROXY: 'example.org' };
  const { api, server } = await serveWithApi({ env });
  api.replyAlways(answers('Directly.'));
  expect(answerOf(await server.callTool('answer', { query: 'q' })).answer).toBe('Directly.');
  const called = await runCli(['call', 'remote', 'echo', '{"text":"direct"}', '--config', config], { env });
  expect(called).toMatchObject({ code: 0, stdout: expect.stringContaining('direct') });
  expect(proxy.seen).toEqual([]);
});

test('a proxy that cannot be reached is named', async () => {
  const port = await freePort();
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

test('a proxy URL that cannot be decoded is a problem of the configuration, and is shown without its password', async () => {
  const env = { OPENAI_API_KEY: API_KEY, HTTPS_PROXY: 'http://user:100%@127.0.0.1:9' };
  const { code, stdout, stderr } = await runCli(['--stdio'], { env });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain('HTTPS_PROXY: got "http://[redacted]@127.0.0.1:9", expected the URL of a proxy');
  expect(stderr).not.toMatch(/URIError|internal error|100%|^\s+at /m);
});
