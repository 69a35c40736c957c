import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { Places } from '../../../../src/application/async/places.ts';
import { never } from '../../../contract/search-kit.ts';
import { settled } from '../../../support/fake-clock.ts';
import { runs } from '../../../support/sized.ts';

/** Places, and what became of each call: `alice 1` is one of alice. */
function start(max: number, maxWaiting?: number) {
  const places = new Places(max, maxWaiting);
  const acquired: string[] = [];
  const others: string[] = [];
  const arrive = (name: string, controller = new AbortController()) => {
    const [caller = ''] = name.split(' ');
    void places
      .acquire(caller, undefined, controller.signal)
      .then((outcome) => (outcome === 'acquired' ? acquired.push(name) : others.push(`${name}: ${outcome}`)));
    return controller;
  };
  const release = async () => {
    places.release();
    await settled();
  };
  return { places, arrive, release, acquired, others };
}

// S26
test('callers take turns, and the calls of one caller keep their order', async () => {
  const { arrive, release, acquired } = start(1);
  for (const name of ['alice 1', 'alice 2', 'alice 3', 'bob 1', 'bob 2', 'carol 1']) arrive(name);
  for (let count = 0; count < 5; count += 1) await release();
  expect(acquired).toEqual(['alice 1', 'alice 2', 'bob 1', 'carol 1', 'alice 3', 'bob 2']);
});

test('a call that aborts while it waits gets no place, and one with a place keeps it', async () => {
  const { arrive, release, acquired, others } = start(1);
  const [first, second] = [arrive('alice 1'), arrive('alice 2')];
  arrive('alice 3');
  const aborted = new AbortController();
  aborted.abort();
  arrive('alice 4', aborted);
  second.abort();
  first.abort();
  await settled();
  expect([acquired, others]).toEqual([['alice 1'], ['alice 4: aborted', 'alice 2: aborted']]);
  await release();
  expect(acquired).toEqual(['alice 1', 'alice 3']);
});

test('a call that waits hears once how many have their turn before it', async () => {
  const places = new Places(1);
  const ahead: number[] = [];
  for (const caller of ['alice', 'alice', 'alice', 'bob', 'bob'])
    void places.acquire(caller, (count) => ahead.push(count), never());
  places.release();
  await settled();
  expect(ahead).toEqual([0, 1, 1, 3]);
});

test('a full queue of one caller is not that of another', async () => {
  const { arrive, acquired, others } = start(1, 1);
  for (const name of ['alice 1', 'alice 2', 'alice 3', 'bob 1']) arrive(name);
  await settled();
  expect([acquired, others]).toEqual([['alice 1'], ['alice 3: full']]);
});

test('resolves when the last call has ended, also the waiting ones', async () => {
  const { places, arrive, release } = start(1);
  await places.whenIdle();
  arrive('alice 1');
  arrive('bob 1');
  const onIdle = vi.fn();
  void places.whenIdle().then(onIdle);
  await release();
  expect(onIdle).not.toHaveBeenCalled();
  await release();
  expect(onIdle).toHaveBeenCalled();
});

test('leaves no listener on the signal, whether the call got a place at once, later or never', async () => {
  const { arrive, release } = start(1);
  const calls = [arrive('alice 1'), arrive('alice 2'), arrive('alice 3')];
  await release();
  calls[2]?.abort();
  for (const { signal } of calls) expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('law: never more calls than places, no place is lost, and every call that stays gets one in its order', () =>
  fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 3 }),
      fc.array(fc.constantFrom('alice', 'bob', 'release', 'abort'), { maxLength: 40 }),
      async (max, steps) => {
        const { arrive, release, acquired, others } = start(max);
        const calls = new Map<string, AbortController>();
        let running = 0;
        for (const [number, step] of steps.entries()) {
          const [last] = [...calls.keys()].filter((name) => !acquired.includes(name)).slice(-1);
          if (step === 'release') {
            if (acquired.length > running) running += 1;
            else continue;
            await release();
          } else if (step === 'abort') {
            if (last !== undefined) calls.get(last)?.abort();
          } else calls.set(`${step} ${number}`, arrive(`${step} ${number}`));
          await settled();
          expect(acquired.length - running).toBeLessThanOrEqual(max);
        }
        while (running < acquired.length) {
          running += 1;
          await release();
        }
        expect(acquired.length + others.length).toBe(calls.size);
        for (const caller of ['alice', 'bob']) {
          const own = acquired.filter((name) => name.startsWith(caller));
          expect(own).toEqual([...calls.keys()].filter((name) => own.includes(name)));
        }
      },
    ),
    { numRuns: runs(100) },
  ));
