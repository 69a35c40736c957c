import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { redactedJson } from '../../../src/domain/values/redaction.ts';
import { bootstrap } from '../../../src/wiring/runtime.ts';

const read = (environment: Readonly<Record<string, string>>, commandLine = {}) =>
  bootstrap({ environment: { HOME: '/nonexistent', ...environment }, commandLine, version: '1.2.3' });

async function runtimeOf(...given: Parameters<typeof read>) {
  const validated = await read(...given);
  return 'value' in validated ? validated.value : expect.fail(JSON.stringify(validated.problems));
}

test('keys and tokens are masked everywhere', async () => {
  const environment = { OPENAI_API_KEY: 'gateway-0123456789', TB: 'tok-bob-98765432', MCP_HTTP_TOKEN_ENV: 'bob=TB' };
  const { redactor, close } = await runtimeOf(environment, { '--http': '' });
  expect(redactor.anywhere('a gateway-0123456789 b tok-bob-98765432 c')).toBe('a [redacted] b [redacted] c');
  await close();
});

test('what was made ends in the reverse order', async () => {
  const { atClose, close } = await runtimeOf({});
  const ended: string[] = [];
  for (const name of ['store', 'guard']) atClose(async () => void ended.push(name));
  await close();
  expect(ended).toEqual(['guard', 'store']);
});

test.each(['alice=TA=TB', 'alice=TA,alice=TB', 'alice='])(
  'tokens that are given twice or that no header can contain are a problem: %s',
  async (text) => {
    const environment = { TA: 'a-token-0123456789', TB: 'b-token-0123456789', MCP_HTTP_TOKEN_ENV: text };
    const validated = await read(environment, { '--http': '' });
    expect('problems' in validated && validated.problems).toMatchObject([
      { where: 'MCP_HTTP_TOKEN_ENV', value: '[redacted]' },
    ]);
  },
);

test('the secrets of servers are masked, also those that are configured later, and those of before', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bootstrap-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'config.yaml');
  const configure = (secret: string) =>
    writeFileSync(file, `servers: [{ name: a, command: x, envs: { TOKEN: ${secret} }, args: ['\${T}'] }]`);
  configure('first-secret');
  const environment = { T: 'secret-of-args-1', HTTPS_PROXY: 'http://joe:pr0xy-pass@proxy.example' };
  const { redactor, reload, close } = await runtimeOf(environment, { '--config': file });
  const text = 'first-secret second-secret secret-of-args-1 pr0xy-pass';
  expect(redactor.inLogs(text)).toBe('[redacted] second-secret [redacted] [redacted]');
  expect(redactor.anywhere(text)).toBe('first-secret second-secret secret-of-args-1 [redacted]');
  configure('second-secret');
  await reload();
  expect(redactor.inLogs(text)).toBe('[redacted] [redacted] [redacted] [redacted]');
  await close();
});

test('the printed configuration never contains the key, wherever it is', async () => {
  const key = 'sk-proj-Ab12_cd34-EF56';
  const environment = { OPENAI_ORG_ID: key, OPENAI_BASE_URL: `https://gateway.example/${key}/v1` };
  const { config, redactor, close } = await runtimeOf({ OPENAI_API_KEY: key, ...environment });
  expect(redactedJson(await config.shown(), redactor.inLogs)).not.toContain(key);
  await close();
});
