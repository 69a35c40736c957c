import { setTimeout as wait } from 'node:timers/promises';
import { SystemClock } from '../../src/adapters/outbound/clock/system-clock.ts';
import { never } from '../support/core.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { FixedClock } from '../support/fixed-clock.ts';
import { InstantClock } from '../support/instant-clock.ts';
import { describeClock, type StartedClock } from './describe-clock.ts';

function startSystemClock(): StartedClock {
  const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
  const before = timers();
  return { clock: new SystemClock(), pass: (ms) => wait(ms), waits: true, pending: () => timers() - before };
}

function startFakeClock(): StartedClock {
  const clock = new FakeClock();
  return { clock, pass: (ms) => clock.advance(ms), waits: true, pending: () => clock.pendingSleeps };
}

function startInstantClock(): StartedClock {
  const clock = new InstantClock();
  return { clock, pass: (ms) => clock.sleep(ms, never()), waits: false };
}

describeClock('SystemClock', startSystemClock);
describeClock('FakeClock', startFakeClock);
describeClock('FixedClock', () => ({ clock: new FixedClock(), waits: true }));
describeClock('InstantClock', startInstantClock);
