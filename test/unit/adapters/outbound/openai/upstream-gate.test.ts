import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { UpstreamGate } from '../../../../../src/adapters/outbound/openai/upstream-gate.ts';
import { FakeClock, settled } from '../../../../support/fake-clock.ts';

test('lets so many callers enter at a time and no more', async () => {
  const { gate, arrive, inside } = startGate(2);
  arrive('a');
  arrive('b');
  arrive('c');
  await settled();
  expect(inside).toEqual(['a', 'b']);
  expect(gate.isOpen).toBe(false);
});

test('lets waiting callers enter in the order of their arrival', async () => {
  const { gate, arrive, inside } = startGate(1);
  for (const name of ['a', 'b', 'c', 'd']) arrive(name);
  for (let left = 0; left < 3; left += 1) {
    await settled();
    gate.leave();
  }
  await settled();
  expect(inside).toEqual(['a', 'b', 'c', 'd']);
});

test('who comes at the very end of a hold, before its timer fires, does not overtake those who wait', async () => {
  const clock = new LateClock();
  const { gate, arrive, inside } = startGate(1, clock);
  gate.holdBack(100);
  arrive('first');
  await settled();
  clock.lateMs = 100;
  arrive('second');
  await settled();
  expect(inside).toEqual(['first']);
});

test('who cannot wait until the end of a hold gives up at once, whether it came before or after; nobody else does', async () => {
  const { gate, arrive, inside, gaveUp, clock } = startGate(1);
  for (const name of ['runs', 'patient']) arrive(name);
  const impatient = arrive('impatient', 4000);
  await settled();
  gate.holdBack(4000);
  await settled();
  expect(gaveUp).toEqual(['impatient']);
  arrive('late', 4000);
  await settled();
  expect(gaveUp).toEqual(['impatient', 'late']);
  expect(getEventListeners(impatient.signal, 'abort')).toEqual([]);
  gate.leave();
  await clock.advance(4000);
  expect(inside).toEqual(['runs', 'patient']);
});

test('a deadline that moved while its caller waited is the one that counts', async () => {
  const { gate, arrive } = startGate(1);
  arrive('runs');
  const caller = { deadlineMs: 4000 };
  let entry: string | undefined;
  void gate.enter(caller, new AbortController().signal).then((came) => {
    entry = came;
  });
  caller.deadlineMs = 9000;
  gate.holdBack(4000);
  await settled();
  expect(entry).toBeUndefined();
});

test('reports how many callers are ahead', async () => {
  const { gate, arrive } = startGate(1);
  expect(gate.ahead).toBe(0);
  for (const name of ['a', 'b', 'c']) arrive(name);
  await settled();
  expect(gate.ahead).toBe(2);
});

test('a caller that gives up while it waits loses its turn, and no other does', async () => {
  const { gate, arrive, inside, gaveUp } = startGate(1);
  arrive('a');
  const b = arrive('b');
  arrive('c');
  b.abort();
  await settled();
  expect(gaveUp).toEqual(['b']);
  gate.leave();
  await settled();
  expect(inside).toEqual(['a', 'c']);
  expect(gate.ahead).toBe(0);
});

test('a caller that has already given up takes no place', async () => {
  const { gate } = startGate(1);
  expect(await gate.enter({ deadlineMs: 60_000 }, AbortSignal.abort())).toBe('aborted');
  expect(gate.isOpen).toBe(true);
});

test('leaves no listener on the signal, whether it let through at once, later, or never', async () => {
  const { gate, arrive } = startGate(1);
  const signals = ['a', 'b', 'c'].map((name) => arrive(name));
  signals[2]?.abort();
  gate.leave();
  await settled();
  expect(signals.map(({ signal }) => getEventListeners(signal, 'abort').length)).toEqual([0, 0, 0]);
});

test('a caller that gives up inside keeps its place until it leaves', async () => {
  const { gate, arrive, inside } = startGate(1);
  arrive('a').abort();
  arrive('b');
  await settled();
  expect(inside).toEqual(['a']);
  gate.leave();
  await settled();
  expect(inside).toEqual(['a', 'b']);
});

test('nobody goes through while held back, neither who waits nor who comes', async () => {
  const { gate, clock, arrive, inside } = startGate(1);
  arrive('a');
  arrive('b');
  gate.holdBack(1000);
  gate.leave();
  arrive('c');
  await clock.advance(999);
  expect(inside).toEqual(['a']);
  expect(gate.heldForMs).toBe(1);
  await clock.advance(1);
  expect(inside).toEqual(['a', 'b']);
});

test('after a hold no more go than fit', async () => {
  const { gate, clock, arrive, inside } = startGate(2);
  gate.holdBack(50);
  for (const name of ['a', 'b', 'c']) arrive(name);
  await clock.advance(50);
  expect(inside).toEqual(['a', 'b']);
});

test('a hold with nobody waiting costs nothing: no timer, no fault', async () => {
  const { gate, clock, arrive, inside } = startGate(1);
  arrive('a');
  gate.holdBack(1000);
  gate.leave();
  await settled();
  expect(clock.pendingSleeps).toBe(0);
  arrive('b');
  await clock.advance(1000);
  expect(inside).toEqual(['a', 'b']);
});

test('a longer hold counts from the moment when it was asked for; a shorter one changes nothing', async () => {
  const { gate, clock, arrive, inside } = startGate(1);
  gate.holdBack(100);
  arrive('a');
  await clock.advance(60);
  gate.holdBack(100);
  gate.holdBack(10);
  await clock.advance(99);
  expect(inside).toEqual([]);
  await clock.advance(1);
  expect(inside).toEqual(['a']);
});

test('holds back for a minute at most', async () => {
  const { gate, clock, arrive, inside } = startGate(1);
  gate.holdBack(86_400_000);
  arrive('a');
  await clock.advance(59_999);
  expect(inside).toEqual([]);
  await clock.advance(1);
  expect(inside).toEqual(['a']);
});

test('all who wait may give up during a hold, and the next one still gets its turn', async () => {
  const { gate, clock, arrive, inside } = startGate(1);
  gate.holdBack(100);
  for (const waiting of [arrive('a'), arrive('b')]) waiting.abort();
  await clock.advance(50);
  arrive('c');
  await clock.advance(50);
  expect(inside).toEqual(['c']);
});

test('a time that is no whole number of milliseconds is waited out, not spun on', async () => {
  const { gate, clock, arrive, inside } = startGate(1);
  gate.holdBack(0.4);
  arrive('a');
  await clock.advance(1);
  expect(inside).toEqual(['a']);
});

test('without a bound everybody goes through, but for a hold', async () => {
  const { gate, clock, arrive, inside } = startGate(Number.POSITIVE_INFINITY);
  for (const name of ['a', 'b', 'c']) arrive(name);
  await settled();
  expect(inside).toEqual(['a', 'b', 'c']);
  gate.holdBack(10);
  arrive('d');
  await settled();
  expect(inside).toEqual(['a', 'b', 'c']);
  await clock.advance(10);
  expect(inside).toEqual(['a', 'b', 'c', 'd']);
});

/** What may happen at a gate; `which` chooses among those who wait. */
const step = fc.record({
  kind: fc.constantFrom('arrive', 'arrive', 'leave', 'abort', 'hold', 'advance'),
  which: fc.nat(20),
  ms: fc.integer({ min: 1, max: 300 }),
});

test('whatever happens: the bound holds, holds hold, nobody overtakes, and everybody gets in or gives up', async () => {
  const property = fc.asyncProperty(
    fc.integer({ min: 1, max: 4 }),
    fc.array(step, { maxLength: 60 }),
    async (most, steps) => {
      const { gate, clock, arrive, inside, gaveUp } = startGate(most);
      const waiting = new Map<string, AbortController>();
      let heldUntilMs = 0;
      let arrived = 0;
      let left = 0;

      const look = async (before: number) => {
        await settled();
        for (const name of [...inside, ...gaveUp]) waiting.delete(name);
        expect(inside.length - left).toBeLessThanOrEqual(most);
        const mayEnter = clock.elapsedMs() >= heldUntilMs;
        if (!mayEnter) expect(inside.length).toBe(before);
        // A free place is not kept from anybody.
        if (mayEnter && waiting.size > 0) expect(inside.length - left).toBe(most);
      };

      for (const { kind, which, ms } of steps) {
        const before = inside.length;
        if (kind === 'arrive') {
          const name = `call ${arrived}`;
          arrived += 1;
          waiting.set(name, arrive(name));
        } else if (kind === 'leave' && inside.length > left) {
          left += 1;
          gate.leave();
        } else if (kind === 'abort') {
          [...waiting.values()][which % Math.max(1, waiting.size)]?.abort();
        } else if (kind === 'hold') {
          heldUntilMs = Math.max(heldUntilMs, clock.elapsedMs() + ms);
          gate.holdBack(ms);
        } else if (kind === 'advance') {
          // Stops just before the end of a hold, so that whoever enters early is seen.
          const toEnd = heldUntilMs - clock.elapsedMs();
          await clock.advance(toEnd > 1 ? Math.min(ms, toEnd - 1) : ms);
        }
        await look(before);
      }

      await clock.advance(60_000);
      while (inside.length > left) {
        left += 1;
        gate.leave();
        await settled();
      }
      expect(inside.length + gaveUp.length).toBe(arrived);
      expect(inside).toEqual([...inside].sort((a, b) => Number(a.slice(5)) - Number(b.slice(5))));
      expect(gate.isOpen).toBe(true);
      expect(clock.pendingSleeps).toBe(0);
    },
  );
  await fc.assert(property, { numRuns: 300 });
});

/** Its timers fire `lateMs` later than they should. */
class LateClock extends FakeClock {
  lateMs = 0;

  override elapsedMs(): number {
    return super.elapsedMs() + this.lateMs;
  }
}

/** A gate, and an account of who went through and who gave up, each in order. */
function startGate(most: number, clock = new FakeClock()) {
  const gate = new UpstreamGate(most, clock);
  const inside: string[] = [];
  const gaveUp: string[] = [];
  const arrive = (name: string, deadlineMs = Number.POSITIVE_INFINITY): AbortController => {
    const controller = new AbortController();
    void gate
      .enter({ deadlineMs }, controller.signal)
      .then((entry) => (entry === 'entered' ? inside : gaveUp).push(name));
    return controller;
  };
  return { gate, clock, inside, gaveUp, arrive };
}
