import type { AnswerQueryInput } from './answer-query.ts';
import type { InFlightRequests } from './in-flight-requests.ts';

export type CancelRequestInput = Pick<AnswerQueryInput, 'requestKey'>;

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
