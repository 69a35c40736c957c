import { err } from 'neverthrow';
import { expect, test } from 'vitest';
import { checkTextFor } from '../../../../../src/adapters/inbound/cli/check-text.ts';
import { checkSources } from '../../../../../src/application/check/check-sources.ts';
import { FakeCitedPages } from '../../../../support/fake-cited-pages.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { RecordingLogger } from '../../../../support/recording-logger.ts';
import { redactorOf } from '../../../../support/redactor.ts';

const OK = { state: 'ok', status: 200 } as const;
const PAGES = {
  'https://a.com': OK,
  'https://b.com': OK,
  'https://c.com': { ...OK, text: async () => ({ visible: '', other: [], isCut: true }) },
};

function start(over: Partial<Parameters<typeof checkTextFor>[0]> = {}) {
  const clock = new FakeClock('2026-01-05T03:00:00Z');
  const written = { out: '', err: '' };
  const options: Parameters<typeof checkTextFor>[0] = {
    clock,
    logger: new RecordingLogger(),
    redactor: redactorOf(),
    check: checkSources({ citedPages: new FakeCitedPages(PAGES), clock }),
    text: 'https://a.com https://b.com',
    json: false,
    out: (text) => {
      written.out += text;
    },
    err: {
      isTTY: true,
      columns: 80,
      write: (text) => {
        written.err += text;
      },
    },
    ...over,
  };
  return { written, run: () => checkTextFor(options, new AbortController().signal) };
}

test('a terminal has a line that counts the links, and is removed at the end', async () => {
  const { run, written } = start();
  expect(await run()).toBe(0);
  const lines = written.err.split('\r\u001B[2K');
  expect(lines).toEqual(['', '0 s  0 of 2 links', '0 s  1 of 2 links', '0 s  2 of 2 links', '']);
  expect(written.out).toBe('2 links: 2 read\n');
});

test('links after the first hundred are one line', async () => {
  const { run, written } = start({ text: Array.from({ length: 103 }, (_, at) => `https://a.com/${at}`).join(' ') });
  await run();
  expect(written.out).toContain('\n- 3 more links: only the first 100 are checked\n\n103 links: ');
});

test.each([
  ['The tower has 43 steps: https://c.com', 'https://c.com: too long, or neither Japanese nor English'],
  ['その塔には43段あります（https://c.com）。', 'https://c.com: 長すぎるか、日本語でも英語でもない'],
])('a page with which no figure can be compared is named, with the reason: %s', async (text, line) => {
  const { run, written } = start({ text });
  expect(await run()).toBe(0);
  expect(written.out).toContain(`\n- ${line}\n`);
});

test('an interrupted check has exit code 130', async () => {
  const { run, written } = start({ check: async () => err({ kind: 'cancelled' }) });
  expect({ code: await run(), out: written.out }).toEqual({ code: 130, out: '' });
});
