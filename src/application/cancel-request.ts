import type { InFlightRequests } from './in-flight-requests.ts';

export interface CancelRequestInput {
  /** The key under which the question was asked. */
  readonly requestKey: string;
}

/** Cancels a question that is being answered (spec 6.1). One that is unknown or finished is ignored. */
export class CancelRequest {
  readonly #inFlight: InFlightRequests;

  constructor(inFlight: InFlightRequests) {
    this.#inFlight = inFlight;
  }

  execute({ requestKey }: CancelRequestInput): void {
    this.#inFlight.cancel(requestKey);
  }
}
