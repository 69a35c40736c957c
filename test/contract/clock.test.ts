import { afterEach, vi } from 'vitest';
import { SystemClock } from '../../src/adapters/outbound/clock/system-clock.ts';
import { never } from '../support/core.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { describeClock, type StartedClock } from './describe-clock.ts';

/** On timers that the test controls. */
function startSystemClock(): StartedClock {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  return { clock: new SystemClock(), pass: (ms) => vi.advanceTimersByTimeAsync(ms), pending: () => vi.getTimerCount() };
}

afterEach(() => {
  vi.useRealTimers();
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
