/** A request in flight. */
export interface Cancellable<Id> {
  readonly id: Id;
  readonly controller: AbortController;
}

/** The requests in flight of one client, for protocols that cancel them by their ID, which is unique among them. */
export class CancelRequest<Id, Request extends Cancellable<Id>> {
  readonly #inFlight = new Map<Id, Request>();

  get inFlight(): readonly Request[] {
    return [...this.#inFlight.values()];
  }

  begin(request: Request): void {
    this.#inFlight.set(request.id, request);
  }

  /** Whether any request with this ID is in flight. */
  has(id: Id): boolean {
    return this.#inFlight.has(id);
  }

  /** Whether the request is still in flight. After it was cancelled, another one may have its ID. */
  holds(request: Request): boolean {
    return this.#inFlight.get(request.id) === request;
  }

  /** Returns whether the request was in flight until now. */
  end(request: Request): boolean {
    return this.holds(request) && this.#inFlight.delete(request.id);
  }

  /** Cancels a request, which is then no longer in flight. Ignores an unknown or finished one. `reason` becomes that of the signal. */
  execute(id: Id, reason?: string): void {
    const request = this.#inFlight.get(id);
    this.#inFlight.delete(id);
    request?.controller.abort(reason);
  }
}
