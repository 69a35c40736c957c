import { expect, test } from 'vitest';
import { watchPipe } from '../../../../../src/adapters/inbound/stdio/pipe-watch.ts';
import { FakeClock, settled } from '../../../../support/fake-clock.ts';

const LOOK_MS = 250;

/** A pipe that is watched: a test says who is seen, and moves the time. */
async function startWatch(seen: { reader: boolean; readers?: boolean; canAsk?: boolean }) {
  const clock = new FakeClock();
  const watch = { looks: 0, asked: 0 };
  const peers = {
    isReaderSeen: async () => {
      watch.looks += 1;
      return seen.reader;
    },
    areReadersVisible: async () => seen.readers ?? true,
  };
  const ask = () => {
    watch.asked += 1;
    return seen.canAsk ?? true;
  };
  void watchPipe(peers, ask, LOOK_MS, clock);
  await settled();
  return { seen, watch, pass: (ms: number) => clock.advance(ms) };
}

test('a reader that stays is looked at four times a second, and nothing is asked', async () => {
  const { watch, pass } = await startWatch({ reader: true });
  for (let look = 0; look < 40; look += 1) await pass(LOOK_MS);
  expect(watch).toEqual({ looks: 41, asked: 0 });
});

test('a reader that is gone is asked for once, at the second look that misses it', async () => {
  const { seen, watch, pass } = await startWatch({ reader: true });
  seen.reader = false;
  await pass(LOOK_MS);
  expect(watch.asked).toBe(0);
  await pass(LOOK_MS);
  expect(watch.asked).toBe(1);
  await pass(600_000);
  expect(watch.asked).toBe(1);
});

test('a pipe that passes from reader to reader between two looks, or over one, is not asked for', async () => {
  const { seen, watch, pass } = await startWatch({ reader: true });
  for (let time = 0; time < 10; time += 1) {
    seen.reader = false;
    await pass(LOOK_MS);
    seen.reader = true;
    await pass(LOOK_MS);
  }
  expect(watch.asked).toBe(0);
});

test('after a false alarm the next reader is watched like the first', async () => {
  const { seen, watch, pass } = await startWatch({ reader: true });
  for (let alarms = 1; alarms <= 2; alarms += 1) {
    seen.reader = false;
    await pass(2 * LOOK_MS);
    expect(watch.asked).toBe(alarms);
    seen.reader = true;
    await pass(LOOK_MS);
  }
});

test('who never sees a reader where one would be seen asks; where readers are hidden nothing is asked', async () => {
  const visible = await startWatch({ reader: false });
  const hidden = await startWatch({ reader: false, readers: false });
  for (const { pass } of [visible, hidden]) await pass(600_000);
  expect([visible.watch.asked, hidden.watch.asked]).toEqual([1, 0]);
});

test('looks that find nobody become seldom', async () => {
  const { watch, pass } = await startWatch({ reader: false, readers: false });
  await pass(600_000);
  expect(watch.looks).toBeGreaterThan(10);
  expect(watch.looks).toBeLessThan(25);
});

test('what cannot be asked yet is asked within half a second of when it can', async () => {
  const { seen, watch, pass } = await startWatch({ reader: false, canAsk: false });
  await pass(60_000);
  const before = watch.asked;
  seen.canAsk = true;
  await pass(2 * LOOK_MS);
  expect(watch.asked).toBe(before + 1);
  await pass(60_000);
  expect(watch.asked).toBe(before + 1);
});
