/** Cancels requests in flight by their ID, for protocols that cancel in this way. IDs are unique among the requests in flight. */
export class CancelRequest<Id = string> {
  readonly #inFlight = new Map<Id, AbortController>();

  /** Runs a request with a signal that aborts when the request is cancelled, or with that of `controller`, which is then aborted. */
  async run<T>(id: Id, request: (signal: AbortSignal) => Promise<T>, controller = new AbortController()): Promise<T> {
    this.#inFlight.set(id, controller);
    try {
      return await request(controller.signal);
    } finally {
      // When a cancelled request ends, another one may already have its ID.
      if (this.#inFlight.get(id) === controller) this.#inFlight.delete(id);
    }
  }

  /** Ignores an unknown or finished request. `reason` becomes the reason of the signal. */
  execute(id: Id, reason?: string): void {
    this.#inFlight.get(id)?.abort(reason);
  }
}
