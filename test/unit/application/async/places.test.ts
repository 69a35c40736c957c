import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Places } from '../../../../src/application/async/places.ts';
import { expectNoListener, never } from '../../../contract/search-kit.ts';
import { settled } from '../../../support/fake-clock.ts';
import { runs } from '../../../support/sized.ts';

/** Places, and the calls that acquired one or gave up, in order. */
function start(slots: number) {
  const places = new Places(slots);
  const acquired: string[] = [];
  const aborted: string[] = [];
  /** The queue positions that each call was notified of. */
  const positions: Record<string, number[]> = {};
  const arrive = (name: string, controller = new AbortController(), caller = 'alice') => {
    positions[name] = [];
    void places
      .acquire(caller, ({ ahead }) => positions[name]?.push(ahead), controller.signal)
      .then((outcome) => (outcome === 'acquired' ? acquired : aborted).push(name));
    return controller;
  };
  return { places, arrive, acquired, aborted, positions };
}

test('has as many slots as configured', async () => {
  const { arrive, acquired } = start(2);
  for (const name of ['a', 'b', 'c']) arrive(name);
  await settled();
  expect(acquired).toEqual(['a', 'b']);
});

test('serves the calls of one caller in the order of arrival', async () => {
  const { places, arrive, acquired } = start(1);
  for (const name of ['a', 'b', 'c', 'd']) arrive(name);
  for (let count = 0; count < 3; count += 1) {
    await settled();
    places.release('alice');
  }
  await settled();
  expect(acquired).toEqual(['a', 'b', 'c', 'd']);
});

test('a call that aborts in the queue loses its turn, and no other call does', async () => {
  const { places, arrive, acquired, aborted } = start(1);
  arrive('a');
  const b = arrive('b');
  arrive('c');
  b.abort();
  await settled();
  places.release('alice');
  await settled();
  expect(aborted).toEqual(['b']);
  expect(acquired).toEqual(['a', 'c']);
});

test('a call that has already aborted takes no slot', async () => {
  const { places, arrive, acquired } = start(1);
  expect(await places.acquire('alice', () => {}, AbortSignal.abort())).toBe('aborted');
  arrive('a');
  await settled();
  expect(acquired).toEqual(['a']);
});

test('a call that aborts with a slot keeps it until it releases it', async () => {
  const { places, arrive, acquired } = start(1);
  arrive('a').abort();
  arrive('b');
  await settled();
  expect(acquired).toEqual(['a']);
  places.release('alice');
  await settled();
  expect(acquired).toEqual(['a', 'b']);
});

test('leaves no listener on the signal, whether the call got a slot at once, later or never', async () => {
  const { places, arrive } = start(1);
  const controllers = ['a', 'b', 'c'].map((name) => arrive(name));
  controllers[2]?.abort();
  places.release('alice');
  await settled();
  expect(controllers.map(({ signal }) => getEventListeners(signal, 'abort').length)).toEqual([0, 0, 0]);
});

test('callers take turns, whoever came first', async () => {
  const { places, arrive, acquired, positions } = start(3);
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) arrive(name);
  for (const name of ['b1', 'b2']) arrive(name, new AbortController(), 'bob');
  await settled();
  expect(acquired).toEqual(['a1', 'a2', 'a3']);
  // Alice has all places, so that it is Bob's turn.
  expect(positions).toMatchObject({ a4: [0], a5: [1], b1: [0], b2: [2] });
  for (let count = 0; count < 4; count += 1) {
    places.release('alice');
    await settled();
  }
  expect(acquired.slice(3)).toEqual(['b1', 'a4', 'b2', 'a5']);
});

test('a caller whose calls never end leaves one place to the others', async () => {
  const { places, arrive, acquired } = start(2);
  for (const name of ['a1', 'a2', 'a3']) arrive(name);
  for (const name of ['b1', 'b2', 'b3']) arrive(name, new AbortController(), 'bob');
  places.release('alice');
  await settled();
  for (let count = 0; count < 2; count += 1) {
    places.release('bob');
    await settled();
  }
  expect(acquired).toEqual(['a1', 'a2', 'b1', 'b2', 'b3']);
  // Nobody else waits.
  places.release('bob');
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
    const { places, arrive, positions } = start(1);
    for (const name of ['a', 'b', 'c', 'd']) arrive(name);
    places.release('alice');
    places.release('alice');
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

  test('is the current one whenever it is read', async () => {
    const places = new Places(1);
    const { signal } = new AbortController();
    let last: { readonly ahead: number } | undefined;
    for (let count = 0; count < 100; count += 1) void places.acquire('alice', (position) => (last = position), signal);
    const ofLast = last;
    expect(ofLast?.ahead).toBe(98);
    for (let count = 0; count < 40; count += 1) places.release('alice');
    await settled();
    expect(ofLast?.ahead).toBe(58);
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
      const { places, arrive, acquired, aborted } = start(slots);
      const controllers: AbortController[] = [];
      let released = 0;
      for (const action of actions) {
        if (action === 'arrive') controllers.push(arrive(String(controllers.length)));
        else if (action !== 'release') controllers[action.abort]?.abort();
        else if (acquired.length > released) {
          places.release('alice');
          released += 1;
        }
        await settled();
        expect(acquired.length - released).toBeLessThanOrEqual(slots);
        const waiting = controllers.length - acquired.length - aborted.length;
        if (waiting > 0) expect(acquired.length - released).toBe(slots);
      }
      expect(acquired).toEqual([...acquired].sort((a, b) => Number(a) - Number(b)));
    }),
    { numRuns: runs(200) },
  );
});

describe('with a limit of the calls that wait', () => {
  test('are given to two calls, and as many wait, in the order of their arrival', async () => {
    const places = new Places(2, 2);
    const order: string[] = [];
    const acquire = (name: string) =>
      places.acquire('alice', undefined, never()).then((outcome) => order.push(`${name} ${outcome}`));
    for (const name of ['a', 'b', 'c', 'd']) void acquire(name);
    await settled();
    expect(order).toEqual(['a acquired', 'b acquired']);
    expect(await places.acquire('alice', undefined, never())).toBe('full');
    places.release('alice');
    await settled();
    places.release('alice');
    await settled();
    expect(order).toEqual(['a acquired', 'b acquired', 'c acquired', 'd acquired']);
  });

  test('a waiting call whose caller leaves makes room, and never gets a slot', async () => {
    const places = new Places(1, 1);
    await places.acquire('alice', undefined, never());
    const controller = new AbortController();
    const leaving = places.acquire('alice', undefined, controller.signal);
    expect(await places.acquire('alice', undefined, never())).toBe('full');
    controller.abort();
    expect(await leaving).toBe('aborted');
    const waiting = places.acquire('alice', undefined, never());
    places.release('alice');
    expect(await waiting).toBe('acquired');
    expectNoListener(controller.signal);
  });
});

test('callers take turns, and a full queue of one caller is not that of another', async () => {
  const places = new Places(2, 2);
  const order: string[] = [];
  const acquire = (caller: string) =>
    places.acquire(caller, undefined, never()).then((outcome) => order.push(`${caller} ${outcome}`));
  for (const caller of ['alice', 'alice', 'alice', 'alice', 'alice', 'bob']) void acquire(caller);
  await settled();
  expect(order).toEqual(['alice acquired', 'alice acquired', 'alice full']);
  places.release('alice');
  await settled();
  expect(order.at(-1)).toBe('bob acquired');
});

describe('whenIdle', () => {
  test('resolves when the last call has ended, also the waiting ones', async () => {
    const places = new Places(1, 1);
    await places.acquire('alice', undefined, never());
    const waiting = places.acquire('alice', undefined, never());
    let isIdle = false;
    void places.whenIdle().then(() => {
      isIdle = true;
    });
    places.release('alice');
    await waiting;
    await settled();
    expect(isIdle).toBe(false);
    places.release('alice');
    await settled();
    expect(isIdle).toBe(true);
  });

  test('resolves at once if nothing runs', async () => {
    await new Places(1).whenIdle();
  });
});

interface Call {
  readonly caller: string;
  readonly number: number;
  readonly controller: AbortController;
  position?: { readonly ahead: number };
}

const caller = fc.constantFrom('alice', 'bob', 'carol');

test('law: calls of one caller keep their order, nobody starves, and nobody takes the last place from those that wait', async () => {
  const action = fc.oneof(
    { weight: 6, arbitrary: fc.record({ arrive: caller }) },
    { weight: 4, arbitrary: fc.record({ end: fc.nat(20) }) },
    { weight: 1, arbitrary: fc.record({ leave: fc.nat(20) }) },
  );
  const law = fc.asyncProperty(
    fc.integer({ min: 1, max: 4 }),
    fc.array(action, { minLength: 10, maxLength: 80, size: 'max' }),
    async (max, actions) => {
      const places = new Places(max);
      const waiting: Call[] = [];
      const running: Call[] = [];
      /** How often each caller has been passed over since its first call in the queue began to wait, by the caller that passed. */
      const passed = new Map<string, string[]>();
      const placesOf = (caller: string) => running.filter((call) => call.caller === caller).length;
      for (const [number, action] of actions.entries()) {
        if ('arrive' in action) {
          const call: Call = { caller: action.arrive, number, controller: new AbortController() };
          waiting.push(call);
          const onQueued = (position: { readonly ahead: number }) => {
            call.position = position;
          };
          void places.acquire(call.caller, onQueued, call.controller.signal).then((outcome) => {
            waiting.splice(waiting.indexOf(call), 1);
            if (outcome === 'acquired') running.push(call);
          });
          await settled();
        } else if ('leave' in action) {
          waiting[action.leave]?.controller.abort();
          await settled();
        } else {
          const [ended] = running.splice(action.end % Math.max(1, running.length), 1);
          if (ended === undefined) continue;
          const others = new Set(waiting.map(({ caller }) => caller));
          const [first] = [...waiting].sort((a, b) => (a.position?.ahead ?? 0) - (b.position?.ahead ?? 0));
          const before = [...waiting];
          places.release(ended.caller);
          await settled();
          const taken = before.find((call) => !waiting.includes(call));
          expect(taken === undefined).toBe(before.length === 0);
          if (taken === undefined) continue;
          expect(taken).toBe(before.find(({ caller }) => caller === taken.caller));
          if (placesOf(ended.caller) < max - 2) expect(taken).toBe(first);
          if (max > 1 && others.size > 1) expect(placesOf(taken.caller)).toBeLessThan(max);
          passed.delete(taken.caller);
          for (const other of others) {
            if (other === taken.caller || placesOf(other) >= max - 1) continue;
            const passers = [...(passed.get(other) ?? []), taken.caller];
            expect(passers).toEqual([...new Set(passers)]);
            passed.set(other, passers);
          }
        }
        for (const known of passed.keys()) {
          const isWaiting = waiting.some(({ caller }) => caller === known);
          if (!isWaiting || placesOf(known) >= max - 1) passed.delete(known);
        }
        expect(running.length).toBeLessThanOrEqual(max);
        // A place is never unused while a call waits for it.
        expect(waiting.length === 0 || running.length === max).toBe(true);
        const positions = waiting.map(({ position }) => position?.ahead);
        expect(positions.toSorted((a, b) => Number(a) - Number(b))).toEqual(waiting.map((_, at) => at));
      }
    },
  );
  await fc.assert(law, { numRuns: 100 });
});

test('law: the position is the order in which the calls get places', async () => {
  const law = fc.asyncProperty(fc.array(caller, { maxLength: 20 }), async (callers) => {
    const places = new Places(50);
    for (let place = 0; place < 50; place += 1) await places.acquire('other', undefined, never());
    const positions: { readonly ahead: number }[] = [];
    const taken: number[] = [];
    for (const [number, caller] of callers.entries()) {
      const onQueued = (position: { readonly ahead: number }) => {
        positions[number] = position;
      };
      void places.acquire(caller, onQueued, never()).then(() => taken.push(number));
    }
    const expected = callers.map((_, number) => number);
    const aheads = positions.map(({ ahead }) => ahead);
    expected.sort((a, b) => Number(aheads[a]) - Number(aheads[b]));
    await settled();
    for (const _ of callers) places.release('other');
    await settled();
    expect(taken).toEqual(expected);
  });
  await fc.assert(law);
});
