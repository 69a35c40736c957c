import { describe, expect, test } from 'vitest';
import { openLine } from '../../../../../src/adapters/inbound/cli/live-line.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { RecordingLogger } from '../../../../support/recording-logger.ts';

const CLEAR = '\r\u001B[2K';

async function start(columns?: number) {
  const written: string[] = [];
  const clock = new FakeClock();
  const write = (text: string) => written.push(text);
  const err = { isTTY: true, write, ...(columns !== undefined && { columns }) };
  const line = openLine({ err, clock, logger: new RecordingLogger() });
  return { line: line ?? expect.fail(), clock, written };
}

test('shows the current step at once, and for how long', async () => {
  const { line, clock, written } = await start();
  line.show('Thinking');
  await clock.advance(2500);
  line.show('Searching');
  expect(written).toEqual([
    `${CLEAR}0 s  Thinking`,
    `${CLEAR}1 s  Thinking`,
    `${CLEAR}2 s  Thinking`,
    `${CLEAR}2 s  Searching`,
  ]);
});

test('is cleared at the end, and its clock stops', async () => {
  const { line, clock, written } = await start();
  line.show('Thinking');
  line.end();
  await clock.advance(10_000);
  expect(written.at(-1)).toBe(CLEAR);
  expect(clock.pendingSleeps).toBe(0);
});

describe('it remains on one line of the terminal', () => {
  test.each([
    ['Latin letters', 10, 'abcdefgh', '0 s  abcd'],
    ['letters of East Asia, two columns each', 10, '東京の天気', '0 s  東京'],
    ['letters of East Asia that would end in the middle', 11, '東京の天気', '0 s  東京'],
    ['half-width kana', 10, 'ﾃﾝｷﾃﾝｷ', '0 s  ﾃﾝｷﾃ'],
    ['full-width Latin', 10, 'ＡＢＣ', '0 s  ＡＢ'],
    ['Hangul', 10, '한국어', '0 s  한국'],
    ['emoji', 10, '😀😀😀', '0 s  😀😀'],
    ['what fits', 80, 'Thinking', '0 s  Thinking'],
  ])('%s', async (_, columns, words, shown) => {
    const { line, written } = await start(columns);
    line.show(words);
    expect(written[0]?.slice(CLEAR.length)).toBe(shown);
  });

  test('a terminal that does not report its width has 80 columns', async () => {
    const { line, written } = await start();
    line.show('x'.repeat(200));
    expect(written[0]?.slice(CLEAR.length)).toHaveLength(79);
  });

  test('a character is never split', async () => {
    for (let columns = 1; columns < 20; columns += 1) {
      const { line, written } = await start(columns);
      line.show('😀𠮷😀𠮷😀');
      expect(written[0]?.isWellFormed()).toBe(true);
    }
  });
});
