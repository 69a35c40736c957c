import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { answers } from '../../support/behaviours.ts';
import { legacy, send } from '../../support/http-client.ts';
import { startHttpProcess } from '../../support/http-process.ts';
import { posixTest } from '../../support/platform.ts';
import { runCli } from '../../support/run-cli.ts';
import { newFile } from '../files.ts';
import { fencesOf } from '../markdown.ts';
import { API_KEY, apiEnv, fakeApi, ROOT } from '../serve.ts';

const ARGS = ['--http=127.0.0.1:0'];
const MCP_LOG = 'json';

/** Every line of a log as JSON, each with a time and a level; the others are a failure. */
function entriesOf(stderr: string): readonly Record<string, unknown>[] {
  const entries = stderr
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  for (const entry of entries)
    expect(entry).toMatchObject({ time: expect.stringMatching(/^\d{4}-.*Z$/), level: expect.stringMatching(/^\w+$/) });
  return entries;
}

const said = (entries: readonly Record<string, unknown>[]) =>
  entries.map(({ level, message }) => `${level} ${message}`);

posixTest('moreSignals')('with server.log: json, everything on standard error is JSON', async () => {
  const yaml = { server: { log: 'json', show_config_on_start: true }, gateway: { watch: false } };
  const config = newFile('config.yaml', JSON.stringify(yaml));
  const http = await startHttpProcess({ args: [...ARGS, '--config', config], env: { MCP_HTTP_LISTEN_: 'x' } });
  await send(http.url, { body: legacy('ping') });
  writeFileSync(config, JSON.stringify({ ...yaml, mistyped: 1 }));
  http.kill('SIGHUP');
  await expect.poll(http.stderr).toContain('so nothing was changed');
  writeFileSync(config, JSON.stringify(yaml));
  http.kill('SIGHUP');
  await expect.poll(http.stderr).toContain('was read again');
  await expect.poll(http.stderr).toContain('"method":"ping"');
  http.kill();
  await http.exited;
  const entries = entriesOf(http.stderr());
  expect(said(entries)).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^info openai-responses-mcp \S+: serving MCP at http/),
      expect.stringMatching(/^info page: http/),
      expect.stringMatching(/^warn MCP_HTTP_LISTEN_: unknown variable/),
      expect.stringMatching(/^warn No usable API key: /),
      expect.stringMatching(/^warn gateway: the configuration has problems, so nothing was changed: mistyped: /),
      expect.stringMatching(/^info gateway: the configuration was read again/),
    ]),
  );
  expect(entries).toContainEqual(expect.objectContaining({ caller: 'local', method: 'ping', level: 'info' }));
  expect(entries).toContainEqual(
    expect.objectContaining({ config: expect.objectContaining({ effective: expect.objectContaining({}) }) }),
  );
});

test('problems of the configuration have this form, too, whatever the problem is', async () => {
  const config = newFile('config.yaml', 'request: { timeout_ms: never }');
  for (const mode of ['--http=127.0.0.1:0', '--stdio']) {
    const { code, stderr } = await runCli([mode, '--config', config], { env: { MCP_LOG } });
    expect(code).toBe(1);
    expect(said(entriesOf(stderr))).toEqual([
      expect.stringMatching(/^error The configuration has a problem:\n {2}request\./),
    ]);
  }
});

test('an address that cannot be used, and a warning of Node.js, have this form, too', async () => {
  const NODE_OPTIONS = `--require=${newFile('warn.cjs', "setTimeout(() => process.emitWarning('old'), 50);")}`;
  const { url, stderr } = await startHttpProcess({ args: ARGS, env: { MCP_LOG, NODE_OPTIONS } });
  await expect.poll(stderr).toContain('Warning: old');
  const { code, ...other } = await runCli([`--http=127.0.0.1:${new URL(url).port}`], { env: { MCP_LOG } });
  expect(code).toBe(1);
  expect(said(entriesOf(other.stderr))).toEqual([expect.stringMatching(/^error Cannot listen on /)]);
  expect(said(entriesOf(stderr()))).toContain('warn Warning: old');
});

test('a person in the terminal reads text', async () => {
  const { stderr } = await runCli(['ask', '--tool=answer', 'q'], { env: { MCP_LOG } });
  expect(stderr).toMatch(/^[A-Z]/);
});

test('callers are summed from the log by the command in docs/reference/transports.md', async ({ skip }) => {
  skip(!isInstalled('jq'), 'jq is not installed');
  const guide = readFileSync(path.join(ROOT, 'docs', 'reference', 'transports.md'), 'utf8');
  const script = fencesOf(guide).find(({ language, code }) => language === 'sh' && code.includes('jq'))?.code ?? '';
  const api = await fakeApi();
  api.replyAlways(answers('An answer.', { search: 'something' }));
  const tokens = { A_TOKEN: 'token-of-alice-0123', B_TOKEN: 'token-of-bob-01234567' };
  const MCP_HTTP_TOKEN_ENV = 'alice=A_TOKEN,bob=B_TOKEN';
  for (const form of ['text', 'json']) {
    const env = { ...apiEnv(api), ...tokens, MCP_HTTP_TOKEN_ENV, MCP_LOG: form };
    const { url, stderr } = await startHttpProcess({ args: ARGS, env });
    const body = legacy('tools/call', { name: 'answer', arguments: { query: 'q' } });
    for (const token of ['token-of-alice-0123', 'token-of-alice-0123', 'token-of-bob-01234567'])
      await send(url, { body, headers: { Authorization: `Bearer ${token}` } });
    await expect.poll(() => stderr().match(/"outcome":"answered"/g)).toHaveLength(3);
    const log = newFile('gateway.log', stderr());
    const sums = execFileSync('sh', ['-euc', script.replaceAll('gateway.log', log)], { encoding: 'utf8' });
    const [alice, bob] = sums
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(bob).toMatchObject({ caller: 'bob', calls: 1 });
    expect(Number(bob?.tokens)).toBeGreaterThan(0);
    expect(alice).toEqual({
      caller: 'alice',
      calls: 2,
      searches: Number(bob?.searches) * 2,
      tokens: Number(bob?.tokens) * 2,
    });
    expect(stderr()).not.toContain(API_KEY);
  }
});

function isInstalled(command: string): boolean {
  try {
    execFileSync(command, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
