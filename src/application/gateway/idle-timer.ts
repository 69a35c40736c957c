import type { Clock } from '../ports/clock.ts';

/** Notices when nothing has used a server for a while. */
export class IdleTimer {
  readonly #clock: Clock;
  readonly #idleMs: number;
  readonly #onIdle: () => void;
  #users = 0;
  #isRunning = false;
  #cancel = (): void => {};

  /** `idleMs` 0: never. */
  constructor(clock: Clock, idleMs: number, onIdle: () => void) {
    this.#clock = clock;
    this.#idleMs = idleMs;
    this.#onIdle = onIdle;
  }

  /** The server is not idle before the end of the task. */
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

  /** Begins with the start of the server, and ends with `stop`. */
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
