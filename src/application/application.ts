import type { Result } from 'neverthrow';
import type { AnswerError } from '../domain/answer-error.ts';
import { type Answer, AnswerQuery, type AnswerQueryInput } from './answer-query.ts';
import { CancelRequest, type CancelRequestInput } from './cancel-request.ts';
import { type Check, DiagnoseSetup } from './diagnose-setup.ts';
import { InFlightRequests } from './in-flight-requests.ts';
import type { ApiProbe } from './ports/api-probe.ts';
import type { Clock } from './ports/clock.ts';
import type { Config } from './ports/config.ts';
import type { LlmSearch } from './ports/llm-search.ts';
import type { Logger } from './ports/logger.ts';
import { SharedSearch } from './shared-search.ts';

/** What every driver may ask of the core. */
export interface Application {
  answerQuery(input: AnswerQueryInput, signal: AbortSignal): Promise<Result<Answer, AnswerError>>;
  cancelRequest(input: CancelRequestInput): void;
  /** Checks the way to an answer; without a key only as far as that goes. */
  diagnoseSetup(hasKey: boolean, signal: AbortSignal): AsyncGenerator<Check>;
}

export interface Ports {
  readonly llmSearch: LlmSearch;
  /** Made when first needed. */
  readonly apiProbe: () => Promise<ApiProbe>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Puts the core together; production, tests and every driver go through it. */
export function createApplication({ llmSearch, apiProbe, clock, logger }: Ports, config: Config): Application {
  const inFlight = new InFlightRequests();
  const answerQuery = new AnswerQuery(new SharedSearch(llmSearch), clock, logger, inFlight, config);
  const diagnoseSetup = new DiagnoseSetup(apiProbe, answerQuery, clock, config);
  const cancelRequest = new CancelRequest(inFlight);
  return {
    answerQuery: (input, signal) => answerQuery.execute(input, signal),
    cancelRequest: (input) => cancelRequest.execute(input),
    diagnoseSetup: (hasKey, signal) => diagnoseSetup.execute(hasKey, signal),
  };
}
