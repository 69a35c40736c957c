import { expect, test } from 'vitest';
import { bootstrap } from '../../src/bootstrap.ts';

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
  validated.value.close();
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
