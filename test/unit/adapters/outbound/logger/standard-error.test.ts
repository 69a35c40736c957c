import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { StandardError } from '../../../../../src/adapters/outbound/logger/standard-error.ts';
import { StderrLogger } from '../../../../../src/adapters/outbound/logger/stderr-logger.ts';
import { FakeClock, settled } from '../../../../support/fake-clock.ts';
import { redactorOf } from '../../../../support/redactor.ts';

const MIB = 1024 * 1024;
const common = { redactor: redactorOf('gateway-token-1'), clock: new FakeClock('2026-01-05T03:00:00Z') };

/** A log whose reader reads only what the test reads. */
function start() {
  const output = new PassThrough();
  const stderr = new StandardError({ ...common, output });
  const logger = new StderrLogger({ ...common, debug: false, stderr });
  const read = async () => {
    let text = '';
    for (let part = output.read(); part !== null; part = output.read()) {
      text += part;
      await settled();
    }
    return text.trimEnd().split('\n');
  };
  return { output, stderr, logger, read };
}

test('while nothing reads it, the log keeps a bounded part, and then says how many lines are missing', async () => {
  const { output, stderr, logger, read } = start();
  const times = 50_000;
  for (let line = 0; line < times; line += 1) {
    stderr.record({ line });
    logger.warn('a');
  }
  stderr.say('info', 'two\nlines');
  expect(output.writableLength).toBeLessThan(2 * MIB);
  const lines = await read();
  const last = /^log: lines missing here, because standard error was not read: (\d+)$/.exec(lines.at(-1) ?? '');
  expect(lines.length - 1 + Number(last?.[1])).toBe(2 * times + 2);
  stderr.say('info', 'later');
  expect(await read()).toEqual(['later']);
  expect(output.listenerCount('drain')).toBe(0);
});

test('a reader that is slow gets the number of missing lines at each gap', async () => {
  const { output, stderr, read } = start();
  const long = `${'x'.repeat(MIB / 8)}\n`;
  const gaps: number[] = [];
  for (let round = 0; round < 30; round += 1) {
    for (let line = 0; line < 10; line += 1) stderr.write(long);
    const missing = (await read()).flatMap((line) => /missing here.*: (\d+)$/.exec(line)?.[1] ?? []);
    gaps.push(...missing.map(Number));
  }
  expect(gaps).toHaveLength(30);
  expect(output.listenerCount('drain')).toBe(0);
});

test('as JSON, the number of missing lines has the form of the log', async () => {
  const { stderr, read } = start();
  stderr.form = 'json';
  for (let line = 0; line < 3; line += 1) stderr.record({ text: 'x'.repeat(MIB) });
  const last = (await read()).at(-1) ?? '';
  expect(JSON.parse(last)).toEqual({
    time: '2026-01-05T03:00:00.000Z',
    level: 'warn',
    message: 'log: lines missing here, because standard error was not read: 2',
  });
});
