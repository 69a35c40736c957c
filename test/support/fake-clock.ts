import type { Clock } from '../../src/application/ports/services.ts';

/** A clock whose time advances only when the test advances it, or, if it is instant, by the length of each sleep, which ends at once. */
export class FakeClock implements Clock {
  /** The lengths of all sleeps. */
  readonly slept: number[] = [];
  readonly #startMs: number;
  readonly #isInstant: boolean;
  #onAsleep = () => {};
  /** Resolves at the first sleep. */
  readonly asleep = new Promise<void>((resolve) => {
    this.#onAsleep = resolve;
  });
  readonly #sleepers = new Set<{ readonly dueMs: number; readonly wake: () => void }>();
  #elapsedMs = 0;

  constructor(start = '2026-01-05T03:00:00Z', { isInstant = false } = {}) {
    this.#startMs = Date.parse(start);
    this.#isInstant = isInstant;
  }

  static instant(start = '2026-11-21T03:00:00Z'): FakeClock {
    return new FakeClock(start, { isInstant: true });
  }

  now(): Date {
    return new Date(this.#startMs + this.#elapsedMs);
  }

  elapsedMs(): number {
    return this.#elapsedMs;
  }

  sleep(ms: number, signal: AbortSignal): Promise<'elapsed' | 'aborted'> {
    this.#record(ms);
    if (this.#isInstant && !signal.aborted) this.#elapsedMs += Math.max(0, ms);
    if (ms <= 0 || this.#isInstant) return Promise.resolve(signal.aborted ? 'aborted' : 'elapsed');
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

  after(ms: number, run: () => void): () => void {
    this.#record(ms);
    if (this.#isInstant) this.#elapsedMs += Math.max(0, ms);
    const sleeper = {
      dueMs: this.#elapsedMs + Math.max(0, ms),
      wake: () => {
        this.#sleepers.delete(sleeper);
        run();
      },
    };
    this.#sleepers.add(sleeper);
    if (this.#isInstant)
      queueMicrotask(() => {
        if (this.#sleepers.has(sleeper)) sleeper.wake();
      });
    return () => void this.#sleepers.delete(sleeper);
  }

  #record(ms: number): void {
    this.slept.push(ms);
    this.#onAsleep();
  }

  /** How many sleeps have not ended. */
  get pendingSleeps(): number {
    return this.#sleepers.size;
  }

  /** Advances the time and ends the sleeps that are due, in order; what continues after each runs before the next ends. */
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

/** Resolves when everything that can run now has run. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
