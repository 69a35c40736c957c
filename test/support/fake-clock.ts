import type { Clock } from '../../src/application/ports/clock.ts';

/** A clock whose time moves only when the test moves it. */
export class FakeClock implements Clock {
  readonly #startMs: number;
  readonly #sleepers = new Set<{ readonly dueMs: number; readonly wake: () => void }>();
  #elapsedMs = 0;

  constructor(start = '2026-01-05T03:00:00Z') {
    this.#startMs = Date.parse(start);
  }

  now(): Date {
    return new Date(this.#startMs + this.#elapsedMs);
  }

  elapsedMs(): number {
    return this.#elapsedMs;
  }

  sleep(ms: number, signal: AbortSignal): Promise<'elapsed' | 'aborted'> {
    return new Promise((resolve) => {
      const settle = (outcome: 'elapsed' | 'aborted') => {
        this.#sleepers.delete(sleeper);
        signal.removeEventListener('abort', onAbort);
        resolve(outcome);
      };
      const onAbort = () => settle('aborted');
      const sleeper = { dueMs: this.#elapsedMs + ms, wake: () => settle('elapsed') };
      if (signal.aborted) return resolve('aborted');
      this.#sleepers.add(sleeper);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** How many sleeps nobody has ended. */
  get pendingSleeps(): number {
    return this.#sleepers.size;
  }

  /** Moves the time on, wakes whoever is due on the way, in order, and lets each do what it does then. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#elapsedMs + ms;
    await settled();
    for (;;) {
      const next = [...this.#sleepers].filter(({ dueMs }) => dueMs <= untilMs).sort((a, b) => a.dueMs - b.dueMs)[0];
      if (next === undefined) break;
      this.#elapsedMs = next.dueMs;
      next.wake();
      await settled();
    }
    this.#elapsedMs = untilMs;
  }
}

/** Resolves when all that can run now has run. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
