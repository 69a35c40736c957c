import type { InFlightRequests } from './in-flight-requests.ts';

export interface CancelRequestInput {
  /** The key of the request to cancel. */
  readonly requestKey: string;
}

/** Cancels a request in flight (spec 6.1). An unknown or finished request is ignored. */
export class CancelRequest {
  readonly #inFlight: InFlightRequests;

  constructor(inFlight: InFlightRequests) {
    this.#inFlight = inFlight;
  }

  execute({ requestKey }: CancelRequestInput): void {
    this.#inFlight.cancel(requestKey);
  }
}
