import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CallSlots } from '../../../src/application/call-slots.ts';
import { settled } from '../../support/fake-clock.ts';

/** A queue without limit, and the calls that acquired a slot or gave up, in order. */
function start(slots: number) {
  const queue = new CallSlots(slots, Number.POSITIVE_INFINITY);
  const acquired: string[] = [];
  const aborted: string[] = [];
  /** The queue positions that each call was notified of. */
  const positions: Record<string, number[]> = {};
  const arrive = (name: string, controller = new AbortController(), caller = 'alice') => {
    positions[name] = [];
    void queue
      .acquireWithProgress(caller, (ahead) => positions[name]?.push(ahead), controller.signal)
      .then((outcome) => (outcome === 'acquired' ? acquired : aborted).push(name));
    return controller;
  };
  return { queue, arrive, acquired, aborted, positions };
}

test('has as many slots as configured', async () => {
  const { arrive, acquired } = start(2);
  for (const name of ['a', 'b', 'c']) arrive(name);
  await settled();
  expect(acquired).toEqual(['a', 'b']);
});

test('serves the calls of one caller in the order of arrival', async () => {
  const { queue, arrive, acquired } = start(1);
  for (const name of ['a', 'b', 'c', 'd']) arrive(name);
  for (let count = 0; count < 3; count += 1) {
    await settled();
    queue.release('alice');
  }
  await settled();
  expect(acquired).toEqual(['a', 'b', 'c', 'd']);
});

test('a call that aborts in the queue loses its turn, and no other call does', async () => {
  const { queue, arrive, acquired, aborted } = start(1);
  arrive('a');
  const b = arrive('b');
  arrive('c');
  b.abort();
  await settled();
  queue.release('alice');
  await settled();
  expect(aborted).toEqual(['b']);
  expect(acquired).toEqual(['a', 'c']);
});

test('a call that has already aborted takes no slot', async () => {
  const { queue, arrive, acquired } = start(1);
  expect(await queue.acquire('alice', AbortSignal.abort())).toBe('aborted');
  arrive('a');
  await settled();
  expect(acquired).toEqual(['a']);
});

test('a call that aborts with a slot keeps it until it releases it', async () => {
  const { queue, arrive, acquired } = start(1);
  arrive('a').abort();
  arrive('b');
  await settled();
  expect(acquired).toEqual(['a']);
  queue.release('alice');
  await settled();
  expect(acquired).toEqual(['a', 'b']);
});

test('leaves no listener on the signal, whether the call got a slot at once, later or never', async () => {
  const { queue, arrive } = start(1);
  const controllers = ['a', 'b', 'c'].map((name) => arrive(name));
  controllers[2]?.abort();
  queue.release('alice');
  await settled();
  expect(controllers.map(({ signal }) => getEventListeners(signal, 'abort').length)).toEqual([0, 0, 0]);
});

test('callers take turns, whoever came first', async () => {
  const { queue, arrive, acquired, positions } = start(3);
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) arrive(name);
  for (const name of ['b1', 'b2']) arrive(name, new AbortController(), 'bob');
  await settled();
  expect(acquired).toEqual(['a1', 'a2', 'a3']);
  // Alice has all places, so that it is Bob's turn.
  expect(positions).toMatchObject({ a4: [0], a5: [1], b1: [0], b2: [2] });
  for (let count = 0; count < 4; count += 1) {
    queue.release('alice');
    await settled();
  }
  expect(acquired.slice(3)).toEqual(['b1', 'a4', 'b2', 'a5']);
});

test('a caller whose calls never end leaves one place to the others', async () => {
  const { queue, arrive, acquired } = start(2);
  for (const name of ['a1', 'a2', 'a3']) arrive(name);
  for (const name of ['b1', 'b2', 'b3']) arrive(name, new AbortController(), 'bob');
  queue.release('alice');
  await settled();
  for (let count = 0; count < 2; count += 1) {
    queue.release('bob');
    await settled();
  }
  expect(acquired).toEqual(['a1', 'a2', 'b1', 'b2', 'b3']);
  // Nobody else waits.
  queue.release('bob');
  await settled();
  expect(acquired.at(-1)).toBe('a3');
});

describe('the position in the queue', () => {
  test('is not reported to a call that gets a slot at once', async () => {
    const { arrive, positions } = start(1);
    arrive('a');
    await settled();
    expect(positions.a).toEqual([]);
  });

  test('is reported at once, and again when it changes', async () => {
    const { queue, arrive, positions } = start(1);
    for (const name of ['a', 'b', 'c', 'd']) arrive(name);
    queue.release('alice');
    queue.release('alice');
    await settled();
    expect(positions).toEqual({ a: [], b: [0], c: [1, 0], d: [2, 1, 0] });
  });

  test('is reported when a call ahead aborts', async () => {
    const { arrive, positions } = start(1);
    arrive('a');
    const b = arrive('b');
    arrive('c');
    b.abort();
    await settled();
    expect(positions.c).toEqual([1, 0]);
  });

  test('is reported to every call, however many wait', async () => {
    const { queue, arrive, positions } = start(1);
    for (let count = 0; count < 100; count += 1) arrive(String(count));
    expect(positions['99']).toEqual([98]);
    for (let count = 0; count < 40; count += 1) queue.release('alice');
    await settled();
    expect(positions['99']?.at(-1)).toBe(58);
  });
});

test('law: never more calls than slots, no slot is lost, and the order of arrival holds', async () => {
  const action = fc.oneof(
    fc.constant('arrive' as const),
    fc.constant('release' as const),
    fc.nat(20).map((index) => ({ abort: index })),
  );
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 3 }), fc.array(action, { maxLength: 40 }), async (slots, actions) => {
      const { queue, arrive, acquired, aborted } = start(slots);
      const controllers: AbortController[] = [];
      let released = 0;
      for (const action of actions) {
        if (action === 'arrive') controllers.push(arrive(String(controllers.length)));
        else if (action !== 'release') controllers[action.abort]?.abort();
        else if (acquired.length > released) {
          queue.release('alice');
          released += 1;
        }
        await settled();
        expect(acquired.length - released).toBeLessThanOrEqual(slots);
        const waiting = controllers.length - acquired.length - aborted.length;
        if (waiting > 0) expect(acquired.length - released).toBe(slots);
      }
      expect(acquired).toEqual([...acquired].sort((a, b) => Number(a) - Number(b)));
    }),
    { numRuns: 200 },
  );
});
