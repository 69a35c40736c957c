import type { Clock } from '../../src/application/ports/clock.ts';
import { deferred } from './fake-llm-search.ts';

/** A clock that always shows the same instant, so a sleep ends only when its signal aborts. Records the sleeps. */
export class FixedClock implements Clock {
  readonly slept: number[] = [];
  readonly #instant: string;
  readonly #asleep = deferred<void>();

  constructor(instant = '2026-01-05T03:00:00Z') {
    this.#instant = instant;
  }

  /** Resolves at the first sleep. */
  get asleep(): Promise<void> {
    return this.#asleep.promise;
  }

  now(): Date {
    return new Date(this.#instant);
  }

  elapsedMs(): number {
    return 0;
  }

  sleep(ms: number, signal: AbortSignal): Promise<'elapsed' | 'aborted'> {
    this.slept.push(ms);
    this.#asleep.settle();
    return new Promise((resolve) => {
      if (signal.aborted) resolve('aborted');
      else if (ms <= 0) resolve('elapsed');
      else signal.addEventListener('abort', () => resolve('aborted'), { once: true });
    });
  }

  after(ms: number): () => void {
    this.slept.push(ms);
    this.#asleep.settle();
    return () => {};
  }
}
