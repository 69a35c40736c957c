import type { InFlightRequests } from './in-flight-requests.ts';
import type { Logger } from './ports/logger.ts';

export interface CancelRequestInput {
  /** The key under which the question was asked. */
  readonly requestKey: string;
  /** The id as the caller wrote it, for the log. */
  readonly requestId: string | number;
  readonly reason?: string;
}

/** Cancels a question that is being answered (spec 6.1). One that is unknown or finished is ignored. */
export class CancelRequest {
  readonly #inFlight: InFlightRequests;
  readonly #logger: Logger;

  constructor(inFlight: InFlightRequests, logger: Logger) {
    this.#inFlight = inFlight;
    this.#logger = logger;
  }

  execute({ requestKey, requestId, reason }: CancelRequestInput): void {
    const found = this.#inFlight.cancel(requestKey);
    if (found) this.#logger.debug(`server: cancelled requestId=${requestId} reason=${reason ?? ''}`);
  }
}
