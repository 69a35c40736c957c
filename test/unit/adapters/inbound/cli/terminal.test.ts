import { describe, expect, test } from 'vitest';
import { openLine } from '../../../../../src/adapters/inbound/cli/terminal.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { RecordingLogger } from '../../../../support/recording-logger.ts';

const CLEAR = '\r\u001B[2K';

function start(columns?: number) {
  const written: string[] = [];
  const clock = new FakeClock();
  const write = (text: string) => written.push(text);
  const err = { isTTY: true, write, ...(columns !== undefined && { columns }) };
  const line = openLine({ err, clock, logger: new RecordingLogger() });
  return { line: line ?? expect.fail(), clock, written };
}

test.each([
  ['without a terminal', false, false],
  ['with debug output, which would be written into it', true, true],
])('there is no line %s', (_, isTTY, isDebug) => {
  const written: string[] = [];
  const err = { isTTY, write: (text: string) => written.push(text) };
  expect(openLine({ err, clock: new FakeClock(), logger: new RecordingLogger({ isDebug }) }, 'Thinking')).toBe(
    undefined,
  );
  expect(written).toEqual([]);
});

test('shows the current step at once, and for how long', async () => {
  const { line, clock, written } = start();
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
  const { line, clock, written } = start();
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
    ['emoji', 10, '😀😀😀', '0 s  😀😀'],
    ['80 columns if the terminal does not report its width', undefined, 'x'.repeat(200), `0 s  ${'x'.repeat(74)}`],
  ])('%s', (_, columns, words, shown) => {
    const { line, written } = start(columns);
    line.show(words);
    expect(written[0]?.slice(CLEAR.length)).toBe(shown);
  });
});

test('is hidden until the last of several questions has ended', async () => {
  const { line, clock, written } = start();
  line.show('Deleting');
  const ends: (() => void)[] = [];
  const asked = [1, 2].map(() => line.aside(() => new Promise<void>((resolve) => ends.push(resolve))));
  ends[0]?.();
  await asked[0];
  await clock.advance(1000);
  expect(written.at(-1)).toBe(CLEAR);
  ends[1]?.();
  await asked[1];
  expect(written.at(-1)).toBe(`${CLEAR}1 s  Deleting`);
});
