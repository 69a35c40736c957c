import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FairQueue } from '../../../src/application/fair-queue.ts';

interface Call {
  readonly caller: string;
  readonly number: number;
}

const caller = fc.constantFrom('alice', 'bob', 'carol');

test('law: calls of one caller keep their order, nobody starves, and nobody takes the last place from those that wait', () => {
  const action = fc.oneof(
    { weight: 6, arbitrary: fc.record({ arrive: caller }) },
    { weight: 4, arbitrary: fc.record({ end: fc.nat(20) }) },
    { weight: 1, arbitrary: fc.record({ leave: fc.nat(20) }) },
  );
  const law = fc.property(
    fc.integer({ min: 1, max: 4 }),
    fc.array(action, { minLength: 10, maxLength: 80, size: 'max' }),
    (places, actions) => {
      const queue = new FairQueue<Call>(places);
      const waiting: Call[] = [];
      const running: Call[] = [];
      /** How often each caller has been passed over since its first call in the queue began to wait, by the caller that passed. */
      const passed = new Map<string, string[]>();
      let number = 0;
      const placesOf = (caller: string) => running.filter((call) => call.caller === caller).length;
      for (const action of actions) {
        if ('arrive' in action) {
          number += 1;
          const call = { caller: action.arrive, number };
          if (running.length < places) {
            queue.occupy(call.caller);
            running.push(call);
          } else {
            queue.add(call.caller, call);
            waiting.push(call);
          }
        } else if ('leave' in action) {
          const [left] = waiting.splice(action.leave, 1);
          if (left !== undefined) queue.remove(left.caller, left);
        } else {
          const [ended] = running.splice(action.end % Math.max(1, running.length), 1);
          if (ended === undefined) continue;
          queue.vacate(ended.caller);
          const others = new Set(waiting.map(({ caller }) => caller));
          const taken = queue.take();
          expect(taken === undefined).toBe(waiting.length === 0);
          if (taken === undefined) continue;
          expect(taken).toBe(waiting.find(({ caller }) => caller === taken.caller));
          waiting.splice(waiting.indexOf(taken), 1);
          running.push(taken);
          if (places > 1 && others.size > 1) expect(placesOf(taken.caller)).toBeLessThan(places);
          passed.delete(taken.caller);
          for (const other of others) {
            if (other === taken.caller || placesOf(other) >= places - 1) continue;
            const passers = [...(passed.get(other) ?? []), taken.caller];
            expect(passers).toEqual([...new Set(passers)]);
            passed.set(other, passers);
          }
        }
        for (const known of passed.keys()) {
          const isWaiting = waiting.some(({ caller }) => caller === known);
          if (!isWaiting || placesOf(known) >= places - 1) passed.delete(known);
        }
        expect([...queue.inOrder()].toSorted((a, b) => a.number - b.number)).toEqual(waiting);
        expect(queue.isEmpty).toBe(waiting.length === 0);
      }
    },
  );
  fc.assert(law, { numRuns: 500 });
});

test('law: the order is the one in which the calls get places', () => {
  const law = fc.property(fc.array(caller, { maxLength: 20 }), (callers) => {
    const queue = new FairQueue<Call>(50);
    for (const [number, caller] of callers.entries()) queue.add(caller, { caller, number });
    const expected = [...queue.inOrder()];
    expect(callers.map(() => queue.take())).toEqual(expected);
  });
  fc.assert(law);
});
