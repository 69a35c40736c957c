import { expect, test } from 'vitest';
import { bootstrap } from '../../../src/wiring/runtime.ts';

const read = (environment: Readonly<Record<string, string>>, commandLine = {}) =>
  bootstrap({ environment: { HOME: '/nonexistent', ...environment }, commandLine, version: '1.2.3' });

async function runtimeOf(...given: Parameters<typeof read>) {
  const validated = await read(...given);
  return 'value' in validated ? validated.value : expect.fail(JSON.stringify(validated.problems));
}

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
