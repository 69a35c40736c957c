import type { Clock } from '../ports/clock.ts';

/** Reports when a server has not been used for `idleMs`. */
export class IdleTimer {
  readonly #clock: Clock;
  readonly #idleMs: number;
  readonly #onIdle: () => void;
  #users = 0;
  #isRunning = false;
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
    this.#cancel();
    try {
      return await task();
    } finally {
      this.#users -= 1;
      this.#wait();
    }
  }

  /** Called at the start of the server. `stop` ends the timer. */
  start(): void {
    this.#isRunning = true;
    this.#wait();
  }

  stop(): void {
    this.#isRunning = false;
    this.#cancel();
  }

  #wait(): void {
    this.#cancel();
    if (this.#isRunning && this.#idleMs > 0 && this.#users === 0)
      this.#cancel = this.#clock.after(this.#idleMs, this.#onIdle);
  }
}
