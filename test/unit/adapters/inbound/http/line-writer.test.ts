import { expect, test } from 'vitest';
import { LineWriter } from '../../../../../src/adapters/inbound/http/line-writer.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

function start({ writableLength = 0 } = {}) {
  const clock = new FakeClock();
  const written: string[] = [];
  const stream = { write: (lines: string) => written.push(lines), writableLength };
  return { clock, written, stream, writer: new LineWriter({ clock, stream }) };
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
