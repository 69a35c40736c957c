import type { Clock } from '../../src/application/ports/clock.ts';

/** A clock whose sleeps end at once: each advances the time by its length. Records them. */
export class InstantClock implements Clock {
  readonly slept: number[] = [];
  readonly #startMs: number;
  #elapsedMs = 0;

  constructor(start = '2026-11-21T03:00:00Z') {
    this.#startMs = Date.parse(start);
  }

  now(): Date {
    return new Date(this.#startMs + this.#elapsedMs);
  }

  elapsedMs(): number {
    return this.#elapsedMs;
  }

  async sleep(ms: number, signal: AbortSignal): Promise<'elapsed' | 'aborted'> {
    this.slept.push(ms);
    if (signal.aborted) return 'aborted';
    this.#elapsedMs += Math.max(0, ms);
    return 'elapsed';
  }

  after(ms: number, run: () => void): () => void {
    let isCancelled = false;
    void this.sleep(ms, new AbortController().signal).then(() => {
      if (!isCancelled) run();
    });
    return () => {
      isCancelled = true;
    };
  }
}
