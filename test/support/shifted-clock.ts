import { SystemClock } from '../../src/adapters/outbound/clock/system-clock.ts';

/** The real time, which a test can advance. */
export class ShiftedClock extends SystemClock {
  #shiftMs = 0;

  advance(ms: number): void {
    this.#shiftMs += ms;
  }

  override now(): Date {
    return new Date(super.now().getTime() + this.#shiftMs);
  }

  override elapsedMs(): number {
    return super.elapsedMs() + this.#shiftMs;
  }
}
