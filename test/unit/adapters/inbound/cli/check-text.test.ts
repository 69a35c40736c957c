import { err } from 'neverthrow';
import { expect, test } from 'vitest';
import { checkTextFor } from '../../../../../src/adapters/inbound/cli/check-text.ts';
import { checkSources } from '../../../../../src/application/check/check-sources.ts';
import { commandContext } from '../../../../support/command-context.ts';
import { never } from '../../../../support/core.ts';
import { FakeCitedPages } from '../../../../support/fake-cited-pages.ts';

const OK = { state: 'ok', status: 200 } as const;
const PAGES = {
  'https://a.com': OK,
  'https://b.com': OK,
  'https://c.com': { ...OK, text: async () => ({ visible: '', other: [], isCut: true }) },
};

function run(over: Partial<Parameters<typeof checkTextFor>[0]> = {}) {
  const { context, printed } = commandContext({ isTTY: true });
  const check = checkSources({ citedPages: new FakeCitedPages(PAGES), clock: context.clock });
  const text = 'https://a.com https://b.com';
  return printed(checkTextFor({ ...context, check, text, json: false, ...over }, never()));
}

test('a terminal has a line that counts the links, and is removed at the end', async () => {
  const { exitCode, out, err } = await run();
  expect({ exitCode, out }).toEqual({ exitCode: 0, out: '2 links: 2 read\n' });
  const lines = err.split('\r\u001B[2K');
  expect(lines).toEqual(['', '0 s  0 of 2 links', '0 s  1 of 2 links', '0 s  2 of 2 links', '']);
});

test('links after the first hundred are one line', async () => {
  const { out } = await run({ text: Array.from({ length: 103 }, (_, at) => `https://a.com/${at}`).join(' ') });
  expect(out).toContain('\n- 3 more links: only the first 100 are checked\n\n103 links: ');
});

test.each([
  ['The tower has 43 steps: https://c.com', 'https://c.com: too long, or neither Japanese nor English'],
  ['その塔には43段あります（https://c.com）。', 'https://c.com: 長すぎるか、日本語でも英語でもない'],
])('a page with which no figure can be compared is named, with the reason: %s', async (text, line) => {
  const { exitCode, out } = await run({ text });
  expect(exitCode).toBe(0);
  expect(out).toContain(`\n- ${line}\n`);
});

test('an interrupted check has exit code 130', async () => {
  expect(await run({ check: async () => err({ kind: 'cancelled' }) })).toMatchObject({ exitCode: 130, out: '' });
});
