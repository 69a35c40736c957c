import type { Clock } from '../ports/clock.ts';

/** Reports when a server has not been used for `idleMs`. */
export class IdleTimer {
  readonly #clock: Clock;
  readonly #idleMs: number;
  readonly #onIdle: () => void;
  #users = 0;
  #usedMs = 0;
  #cancel = (): void => {};

  /** `idleMs` of 0 means never. */
  constructor(clock: Clock, idleMs: number, onIdle: () => void) {
    this.#clock = clock;
    this.#idleMs = idleMs;
    this.#onIdle = onIdle;
  }

  /** Runs a task, until whose end the server is not idle. */
  async during<T>(task: () => Promise<T>): Promise<T> {
    this.#users += 1;
    try {
      return await task();
    } finally {
      this.#users -= 1;
      this.#usedMs = this.#clock.elapsedMs();
    }
  }

  /** Called at the start of the server. `stop` ends the timer. */
  start(): void {
    this.stop();
    this.#usedMs = this.#clock.elapsedMs();
    if (this.#idleMs > 0) this.#wait(this.#idleMs);
  }

  stop(): void {
    this.#cancel();
  }

  /** Looks after `ms` whether there were tasks in the meantime, because a timer for each of many tasks costs more. */
  #wait(ms: number): void {
    this.#cancel = this.#clock.after(ms, () => {
      const idleMs = this.#users > 0 ? 0 : this.#clock.elapsedMs() - this.#usedMs;
      if (idleMs < this.#idleMs) this.#wait(this.#idleMs - idleMs);
      else this.#onIdle();
    });
  }
}
