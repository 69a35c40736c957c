import { array, assert, asyncProperty, constantFrom, integer, oneof, record } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CallSlots } from '../../../src/application/call-slots.ts';
import { expectNoListener, never } from '../../contract/search-kit.ts';
import { settled } from '../../support/fake-clock.ts';

describe('two slots', () => {
  test('are given to two calls, and as many wait, in the order of their arrival', async () => {
    const slots = new CallSlots(2);
    const order: string[] = [];
    const acquire = (name: string) =>
      slots.acquire('alice', never()).then((outcome) => order.push(`${name} ${outcome}`));
    for (const name of ['a', 'b', 'c', 'd']) void acquire(name);
    await settled();
    expect(order).toEqual(['a acquired', 'b acquired']);
    expect(await slots.acquire('alice', never())).toBe('full');
    slots.release('alice');
    await settled();
    slots.release('alice');
    await settled();
    expect(order).toEqual(['a acquired', 'b acquired', 'c acquired', 'd acquired']);
  });

  test('a waiting call whose caller leaves makes room, and never gets a slot', async () => {
    const slots = new CallSlots(1);
    await slots.acquire('alice', never());
    const controller = new AbortController();
    const leaving = slots.acquire('alice', controller.signal);
    expect(await slots.acquire('alice', never())).toBe('full');
    controller.abort();
    expect(await leaving).toBe('aborted');
    const waiting = slots.acquire('alice', never());
    slots.release('alice');
    expect(await waiting).toBe('acquired');
    expectNoListener(controller.signal);
  });

  test('a caller that has already left gets none', async () => {
    expect(await new CallSlots(1).acquire('alice', AbortSignal.abort())).toBe('aborted');
  });
});

test('callers take turns, and a full queue of one caller is not that of another', async () => {
  const slots = new CallSlots(2);
  const order: string[] = [];
  const acquire = (caller: string) =>
    slots.acquire(caller, never()).then((outcome) => order.push(`${caller} ${outcome}`));
  for (const caller of ['alice', 'alice', 'alice', 'alice', 'alice', 'bob']) void acquire(caller);
  await settled();
  expect(order).toEqual(['alice acquired', 'alice acquired', 'alice full']);
  slots.release('alice');
  await settled();
  expect(order.at(-1)).toBe('bob acquired');
});

describe('whenIdle', () => {
  test('resolves when the last call has ended, also the waiting ones', async () => {
    const slots = new CallSlots(1);
    await slots.acquire('alice', never());
    const waiting = slots.acquire('alice', never());
    let isIdle = false;
    void slots.whenIdle(never()).then(() => {
      isIdle = true;
    });
    slots.release('alice');
    await waiting;
    await settled();
    expect(isIdle).toBe(false);
    slots.release('alice');
    await settled();
    expect(isIdle).toBe(true);
  });

  test('resolves at once if nothing runs, and when its signal aborts', async () => {
    const slots = new CallSlots(1);
    await slots.whenIdle(never());
    await slots.acquire('alice', never());
    await slots.whenIdle(AbortSignal.abort());
    const controller = new AbortController();
    const idle = slots.whenIdle(controller.signal);
    controller.abort();
    await idle;
    expectNoListener(controller.signal);
  });
});

test('slots are never exceeded and always freed, whatever callers do', async () => {
  const step = oneof(
    record({ kind: constantFrom('acquire' as const) }),
    record({ kind: constantFrom('release' as const, 'leave' as const), which: integer({ min: 0, max: 20 }) }),
  );
  await assert(
    asyncProperty(integer({ min: 1, max: 4 }), array(step, { maxLength: 60 }), async (max, steps) => {
      const slots = new CallSlots(max);
      const holders: object[] = [];
      const waiting: { readonly controller: AbortController; outcome?: string }[] = [];
      for (const step of steps) {
        if (step.kind === 'acquire') {
          const wasFull = holders.length === max && waiting.length === max;
          const call: (typeof waiting)[number] = { controller: new AbortController() };
          waiting.push(call);
          void slots.acquire('alice', call.controller.signal).then((outcome) => {
            call.outcome = outcome;
            waiting.splice(waiting.indexOf(call), 1);
            if (outcome === 'acquired') holders.push(call);
          });
          await settled();
          expect(call.outcome === 'full').toBe(wasFull);
        } else if (step.kind === 'release' && holders.length > 0) {
          holders.splice(step.which % holders.length, 1);
          slots.release('alice');
        } else if (step.kind === 'leave' && waiting.length > 0) {
          waiting[step.which % waiting.length]?.controller.abort();
        }
        await settled();
        expect(holders.length).toBeLessThanOrEqual(max);
        // A slot is never unused while a call waits for it.
        expect(waiting.length === 0 || holders.length === max).toBe(true);
      }
      while (holders.length > 0) {
        holders.pop();
        slots.release('alice');
        await settled();
      }
      await slots.whenIdle(never());
      for (let free = 0; free < max; free += 1) expect(await slots.acquire('alice', never())).toBe('acquired');
    }),
    { numRuns: 60 },
  );
});
