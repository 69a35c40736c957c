/** Why a request was stopped, or `settled` when it is over. The first cause wins. */
export type AbortCause = 'cancelled' | 'timed_out' | 'settled';

/**
 * The requests that run now, by a key that their driver makes unique among its callers.
 */
export class InFlightRequests {
  readonly #controllers = new Map<string, AbortController>();

  /**
   * Runs `work` with a signal that aborts when the request is cancelled or `signal` aborts, with the cause as its reason. The
   * request is known before `work` is called, so that a cancellation on the very next line finds it.
   */
  async run<T>(key: string, signal: AbortSignal, work: (controller: AbortController) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    const onAbort = () => controller.abort('cancelled' satisfies AbortCause);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    this.#controllers.set(key, controller);
    try {
      return await work(controller);
    } finally {
      signal.removeEventListener('abort', onAbort);
      if (this.#controllers.get(key) === controller) this.#controllers.delete(key);
    }
  }

  /** Stops a request; false if none runs under this key. */
  cancel(key: string): boolean {
    const controller = this.#controllers.get(key);
    controller?.abort('cancelled' satisfies AbortCause);
    return controller !== undefined;
  }
}
