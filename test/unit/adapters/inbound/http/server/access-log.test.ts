import { expect, test } from 'vitest';
import { lineWriter, toAccessLine } from '../../../../../../src/adapters/inbound/http/server/access-log.ts';
import type { AccessEntry } from '../../../../../../src/adapters/inbound/http/shared/exchange.ts';
import { FakeClock } from '../../../../../support/fake-clock.ts';

const lineOf = (entry: Partial<AccessEntry>) =>
  toAccessLine({ verb: 'POST', isShutDown: false, ...entry }, 200, new Date(0), 1);

test('the name of a tool, which its server chose, has at most 100 characters that can be displayed', () => {
  const tool = `a\u202Eb\u0085c\u200Bd\u001B[31me${'x'.repeat(1000)}`;
  const line = lineOf({ call: { server: 'files', tool, outcome: 'answered' } });
  expect(JSON.parse(line)).toMatchObject({ server: 'files', tool: `abcde${'x'.repeat(94)}…` });
  expect(line.length).toBeLessThan(300);
});

function start({ writableLength = 0 } = {}) {
  const clock = new FakeClock();
  const written: string[] = [];
  const stream = { write: (lines: string) => written.push(lines), writableLength };
  return { clock, written, stream, writer: lineWriter(clock, stream) };
}

test('writes the lines of 20 ms together, in order', async () => {
  const { clock, written, writer } = start();
  writer.add('1\n');
  await clock.advance(19);
  writer.add('2\n');
  expect(written).toEqual([]);
  await clock.advance(1);
  expect(written).toEqual(['1\n2\n']);

  writer.add('3\n');
  await clock.advance(20);
  expect(written).toEqual(['1\n2\n', '3\n']);
});

test('writes at once what is left at the end, and only once', async () => {
  const { clock, written, writer } = start();
  writer.add('1\n');
  writer.flush();
  expect(written).toEqual(['1\n']);
  await clock.advance(60_000);
  expect(written).toEqual(['1\n']);
});

test('discards lines while nobody reads the stream', async () => {
  const { clock, written, stream, writer } = start({ writableLength: 1024 * 1024 });
  writer.add('1\n');
  await clock.advance(20);
  expect(written).toEqual([]);

  stream.writableLength = 0;
  writer.add('2\n');
  await clock.advance(20);
  expect(written).toEqual(['2\n']);
});

test('leaves no timer when there is nothing to write', async () => {
  const { clock, writer } = start();
  writer.add('1\n');
  await clock.advance(20);
  expect(clock.pendingSleeps).toBe(0);
});
