import { describe, expect, test } from 'vitest';
import type { Clock } from '../../src/application/ports/services.ts';
import { settled } from '../support/fake-clock.ts';
import { expectNoListener, never } from './search-kit.ts';

export interface StartedClock {
  readonly clock: Clock;
  /** Lets so many milliseconds pass. */
  readonly pass: (ms: number) => Promise<unknown>;
  /** How many timers, or their equivalents, are active; absent if the clock has none. */
  readonly pending?: () => number;
}

/** What every Clock promises (see the port). On an instant clock, a sleep never waits: these promises do not apply to it. */
export function describeClock(
  name: string,
  start: () => StartedClock,
  { waits = true }: { readonly waits?: boolean } = {},
): void {
  describe(`${name} as a Clock`, () => {
    test('shows a time', () => {
      expect(start().clock.now().getTime()).toBeGreaterThan(0);
    });

    test('never runs backwards', async () => {
      const { clock, pass } = start();
      const seen: number[] = [];
      for (const ms of [0, 1, 5]) {
        seen.push(clock.elapsedMs());
        await pass(ms);
        seen.push(clock.elapsedMs());
      }
      expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    });

    test.each([0, -1])('elapses at once when it sleeps for %i ms', async (ms) => {
      const { clock, pass } = start();
      const signal = never();
      const sleeping = clock.sleep(ms, signal);
      await pass(1);
      expect(await sleeping).toBe('elapsed');
      expectNoListener(signal);
    });

    test.each([0, 60_000])('does not sleep for %i ms if the signal is already aborted', async (ms) => {
      const { clock, pending = () => 0 } = start();
      const [signal, startedMs] = [AbortSignal.abort(), clock.elapsedMs()];
      expect(await clock.sleep(ms, signal)).toBe('aborted');
      expect(clock.elapsedMs() - startedMs).toBeLessThan(60_000);
      expectNoListener(signal);
      expect(pending()).toBe(0);
    });

    test('elapses when the time has passed, not earlier, and leaves no listener and no timer', async () => {
      const { clock, pass, pending = () => 0 } = start();
      const [signal, startedMs] = [never(), clock.elapsedMs()];
      const sleeping = clock.sleep(20, signal).then((outcome) => ({ outcome, tookMs: clock.elapsedMs() - startedMs }));
      await pass(20);
      const { outcome, tookMs } = await sleeping;
      expect(outcome).toBe('elapsed');
      expect(tookMs).toBeGreaterThanOrEqual(20);
      expectNoListener(signal);
      expect(pending()).toBe(0);
    });

    // Node.js timers longer than 2 ** 31 - 1 ms fire at once.
    test.for(waits ? [60_000, 2 ** 31, Number.MAX_SAFE_INTEGER] : [])(
      'waits while it sleeps for %i ms, until the signal aborts, and leaves no listener and no timer',
      async (ms) => {
        const { clock, pass, pending } = start();
        const controller = new AbortController();
        let isAwake = false;
        const sleeping = clock.sleep(ms, controller.signal).finally(() => {
          isAwake = true;
        });
        await pass(5);
        await settled();
        expect(isAwake).toBe(false);
        if (pending !== undefined) expect(pending()).toBe(1);
        controller.abort();
        expect(await sleeping).toBe('aborted');
        expectNoListener(controller.signal);
        if (pending !== undefined) expect(pending()).toBe(0);
      },
    );

    test('runs something when the time has passed, not earlier, and leaves no timer', async () => {
      const { clock, pass, pending = () => 0 } = start();
      const startedMs = clock.elapsedMs();
      const ran: number[] = [];
      clock.after(20, () => ran.push(clock.elapsedMs() - startedMs));
      expect(ran).toEqual([]);
      await pass(19);
      if (waits) expect(ran).toEqual([]);
      await pass(1);
      expect(ran).toHaveLength(1);
      expect(ran[0]).toBeGreaterThanOrEqual(20);
      expect(pending()).toBe(0);
    });

    test('runs soon what is overdue', async () => {
      const { clock, pass } = start();
      let runs = 0;
      clock.after(-50, () => {
        runs += 1;
      });
      expect(runs).toBe(0);
      await pass(1);
      expect(runs).toBe(1);
    });

    test.for([0, 20, 2 ** 40])('does not run after %i ms what was cancelled', async (ms) => {
      const { clock, pass, pending = () => 0 } = start();
      let hasRun = false;
      const cancel = clock.after(ms, () => {
        hasRun = true;
      });
      cancel();
      expect(pending()).toBe(0);
      await pass(30);
      await settled();
      expect(hasRun).toBe(false);
    });
  });
}
