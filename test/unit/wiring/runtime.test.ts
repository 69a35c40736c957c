import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { redactedJson } from '../../../src/domain/values/redaction.ts';
import { bootstrap } from '../../../src/wiring/runtime.ts';

test('keys and tokens are masked everywhere', async () => {
  const environment = {
    HOME: '/nonexistent',
    OPENAI_API_KEY: 'gateway-0123456789',
    TB: 'tok-bob-98765432',
    MCP_HTTP_TOKEN_ENV: 'bob=TB',
  };
  const validated = await bootstrap({ environment, commandLine: { '--http': '' }, version: '1.2.3' });
  if ('problems' in validated) return expect.fail(JSON.stringify(validated.problems));
  expect(validated.value.redactor.anywhere('a gateway-0123456789 b tok-bob-98765432 c')).toBe(
    'a [redacted] b [redacted] c',
  );
  await validated.value.close();
});

test('what was made ends in the reverse order', async () => {
  const validated = await bootstrap({ environment: { HOME: '/nonexistent' }, commandLine: {}, version: '1.2.3' });
  if ('problems' in validated) return expect.fail(JSON.stringify(validated.problems));
  const { atClose, close } = validated.value;
  const ended: string[] = [];
  for (const name of ['store', 'guard']) atClose(async () => void ended.push(name));
  await close();
  expect(ended).toEqual(['guard', 'store']);
});

test.each(['alice=TA=TB', 'alice=TA,alice=TB', 'alice='])(
  'tokens that are given twice or that no header can contain are a problem: %s',
  async (text) => {
    const environment = {
      HOME: '/nonexistent',
      TA: 'a-token-0123456789',
      TB: 'b-token-0123456789',
      MCP_HTTP_TOKEN_ENV: text,
    };
    const validated = await bootstrap({ environment, commandLine: { '--http': '' }, version: '1.2.3' });
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
  const environment = {
    HOME: '/nonexistent',
    T: 'secret-of-args-1',
    HTTPS_PROXY: 'http://joe:pr0xy-pass@proxy.example',
  };
  const validated = await bootstrap({ environment, commandLine: { '--config': file }, version: '1.2.3' });
  if ('problems' in validated) return expect.fail(JSON.stringify(validated.problems));
  const { redactor, reload, close } = validated.value;
  const text = 'first-secret second-secret secret-of-args-1 pr0xy-pass';
  expect(redactor.inLogs(text)).toBe('[redacted] second-secret [redacted] [redacted]');
  expect(redactor.anywhere(text)).toBe('first-secret second-secret secret-of-args-1 [redacted]');
  configure('second-secret');
  await reload();
  expect(redactor.inLogs(text)).toBe('[redacted] [redacted] [redacted] [redacted]');
  await close();
});

const KEY = 'sk-proj-Ab12_cd34-EF56';

test.each([
  ['that is used', {}],
  ['that is in another variable too', { OPENAI_ORG_ID: KEY }],
  ['that is in the base URL too', { OPENAI_BASE_URL: `https://gateway.example/${KEY}/v1` }],
])('the printed configuration never contains the key %s', async (_, variables) => {
  const environment = { HOME: '/nonexistent', OPENAI_API_KEY: KEY, ...variables };
  const validated = await bootstrap({ environment, commandLine: {}, version: '1.2.3' });
  if ('problems' in validated) return expect.fail(JSON.stringify(validated.problems));
  const { config, redactor, close } = validated.value;
  expect(redactedJson(await config.shown(), redactor.inLogs)).not.toContain(KEY);
  await close();
});
