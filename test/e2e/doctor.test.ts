import { expect, test } from 'vitest';
import { answers } from '../support/behaviours.ts';
import { FakeIssuer } from '../support/fake-issuer.ts';
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
    expect.stringMatching(/^note {2}prices: no price is known for gpt-6; /),
    'ok    key: found in OPENAI_API_KEY',
    expect.stringMatching(/^ok {4}connection: 127\.0\.0\.1:\d+ can be reached$/),
    'skip  model gpt-5.2: this server does not list its models',
    'skip  model gpt-6: this server does not list its models',
    expect.stringMatching(/^ok {4}web search: answered with 1 source in \d+\.\d s$/),
    '5 ok, 1 note, 2 skipped',
    '',
  ]);
  expect(api.requests.map(({ method }) => method)).toEqual(['GET', 'GET', 'GET', 'POST']);
  expect(stdout).not.toContain(API_KEY.slice(0, 12));
});

test('a configuration that is invalid is a check like the others', async () => {
  const env = { OPENAI_API_KEY: API_KEY, MAX_CITATIONS: '99' };
  const { code, stdout } = await runCli(['doctor'], { env });
  expect(code).toBe(1);
  expect(stdout).toMatch(/^ok {4}node: .*\nFAIL {2}configuration: MAX_CITATIONS: got "99", expected /);
});

test.each([
  ['http: { listen: 127.0.0.1:3918 }', {}, 1],
  ['http: { listen: 127.0.0.1:3918 }', { MCP_HTTP_TOKEN: 'token-0123456789' }, 0],
  ['http: { oauth: { issuer: "http://127.0.0.1:1", audience: "https://mcp.example.com/mcp" } }', {}, 0],
  ['server: {}', {}, 0],
])('%s with %j: notes that no token is required (%d)', async (yaml, env, notes) => {
  const config = newFile('config.yaml', yaml);
  const { stdout } = await runCli(['doctor', '--offline', '--config', config], { env });
  expect(stdout.match(/^note {2}http: no token is required: .* proxy or a tunnel/gm) ?? []).toHaveLength(notes);
});

test('http.oauth: keys of the issuer that cannot be read are a failure', async () => {
  const issuer = await FakeIssuer.start();
  const url = issuer.origin;
  issuer.metadata = { jwks_uri: `${url}/keys` };
  issuer.answers.set('/keys', { status: 503 });
  const config = newFile(
    'config.yaml',
    `llm: { adapter: offline }\nhttp: { oauth: { issuer: "${url}", audience: "https://mcp.example/mcp" } }\n`,
  );
  const { code, stdout } = await runCli(['doctor', '--config', config]);
  expect(stdout).toContain(`(${url}/keys answered with HTTP 503).`);
  expect(code).toBe(1);
});
