import { expect, test } from 'vitest';
import { layFoundation } from '../../src/foundation.ts';

test('keys and tokens are masked everywhere', async () => {
  const environment = {
    HOME: '/nonexistent',
    OPENAI_API_KEY: 'gateway-0123456789',
    TB: 'tok-bob-98765432',
    MCP_HTTP_TOKEN_ENV: 'bob=TB',
  };
  const laid = await layFoundation({ environment, commandLine: { http: '', names: ['--http'] }, version: '1.2.3' });
  if ('problems' in laid) return expect.fail(JSON.stringify(laid.problems));
  expect(laid.value.redactor.anywhere('a gateway-0123456789 b tok-bob-98765432 c')).toBe('a [redacted] b [redacted] c');
  laid.value.close();
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
    const laid = await layFoundation({ environment, commandLine: { http: '', names: [] }, version: '1.2.3' });
    expect('problems' in laid && laid.problems).toMatchObject([{ where: 'MCP_HTTP_TOKEN_ENV', value: text }]);
  },
);
