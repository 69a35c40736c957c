/** Cancels requests in flight by their ID, for protocols that do so. IDs are unique among the requests that run here at a time. */
export class CancelRequest<Id = string> {
  readonly #inFlight = new Map<Id, AbortController>();

  /** Runs a request with a signal, which aborts when it is cancelled. */
  async run<T>(id: Id, request: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    this.#inFlight.set(id, controller);
    try {
      return await request(controller.signal);
    } finally {
      // A cancelled request may end after another has its ID.
      if (this.#inFlight.get(id) === controller) this.#inFlight.delete(id);
    }
  }

  /** An unknown or finished request is ignored. `reason` becomes that of the signal. */
  execute(id: Id, reason?: string): void {
    this.#inFlight.get(id)?.abort(reason);
  }
}
