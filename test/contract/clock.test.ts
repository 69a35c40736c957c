import { clearTimeout as clearTimer, setTimeout as setTimer } from 'node:timers';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, expect, vi } from 'vitest';
import { SystemClock } from '../../src/adapters/outbound/clock/system-clock.ts';
import { never } from '../support/core.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { describeClock, type StartedClock } from './describe-clock.ts';

/** Counts the timers of this file: the process also has those of the test runner. */
function startSystemClock(): StartedClock {
  const pending = new Set<NodeJS.Timeout>();
  vi.stubGlobal('setTimeout', (run: () => void, ms: number) => {
    // Node.js 24 and later warn on standard error.
    expect(ms).toBeGreaterThanOrEqual(0);
    const timer = setTimer(() => {
      pending.delete(timer);
      run();
    }, ms);
    pending.add(timer);
    return timer;
  });
  vi.stubGlobal('clearTimeout', (timer: NodeJS.Timeout) => {
    pending.delete(timer);
    clearTimer(timer);
  });
  return { clock: new SystemClock(), pass: (ms) => wait(ms), pending: () => pending.size };
}

afterEach(() => {
  vi.unstubAllGlobals();
});

function startFakeClock(): StartedClock {
  const clock = new FakeClock();
  return { clock, pass: (ms) => clock.advance(ms), pending: () => clock.pendingSleeps };
}

function startInstantClock(): StartedClock {
  const clock = FakeClock.instant();
  return { clock, pass: (ms) => clock.sleep(ms, never()) };
}

describeClock('SystemClock', startSystemClock);
describeClock('FakeClock', startFakeClock);
describeClock('FakeClock that is instant', startInstantClock, { waits: false });
