import { AbortControllers } from './abort-controllers.ts';

/** Why a request was aborted. The first cause wins. */
export type AbortCause = 'cancelled' | 'timed_out';

/** The requests in flight, by a key that the driver makes unique among its callers. */
export class InFlightRequests {
  readonly #controllers = new AbortControllers();
  readonly #inFlight = new Map<string, AbortController>();

  /** Registers the request, then runs `work` with its controller. The reason of an abort is an AbortCause. */
  async run<T>(key: string, work: (controller: AbortController) => Promise<T>): Promise<T> {
    const controller = this.#controllers.take();
    this.#inFlight.set(key, controller);
    try {
      return await work(controller);
    } finally {
      if (this.#inFlight.get(key) === controller) this.#inFlight.delete(key);
      this.#controllers.giveBack(controller);
    }
  }

  cancel(key: string): void {
    this.#inFlight.get(key)?.abort('cancelled' satisfies AbortCause);
  }
}
