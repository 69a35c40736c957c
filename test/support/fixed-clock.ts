import type { Clock } from '../../src/application/ports/clock.ts';

/** A clock that stands still: it always tells the same instant, and its sleeps end only by being aborted. */
export class FixedClock implements Clock {
  readonly #instant: string;

  constructor(instant = '2026-01-05T03:00:00Z') {
    this.#instant = instant;
  }

  now(): Date {
    return new Date(this.#instant);
  }

  elapsedMs(): number {
    return 0;
  }

  sleep(_ms: number, signal: AbortSignal): Promise<'elapsed' | 'aborted'> {
    return new Promise((resolve) => {
      if (signal.aborted) resolve('aborted');
      else signal.addEventListener('abort', () => resolve('aborted'), { once: true });
    });
  }
}
