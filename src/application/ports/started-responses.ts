import type { Result } from 'neverthrow';
import type { SearchError } from '../../domain/answers/answer-error.ts';
import type { Kind } from '../../domain/values/kind.ts';
import type { SearchOutcome, SearchRequest } from './llm-search.ts';

/** The result of a look at a response: the number of searches so far, and the outcome if the response has ended. */
export interface Look {
  readonly searches: number;
  readonly outcome?: SearchOutcome;
}

/** Why a look failed. `unknown_response`: the API does not have the response any more (404). `isPassing`: a later look may succeed. */
export type LookError = Kind<'unknown_response'> | Kind<'not_looked', { error: SearchError; isPassing: boolean }>;

/** Responses that continue at the API, whichever process started them. No promise rejects. `asked` says how a reply is read. */
export interface StartedResponses {
  /** One request. Ends with `not_looked` (`aborted`) soon after `signal` aborts, and leaves no listener on it. */
  look(
    id: string,
    asked: Pick<SearchRequest, 'profile' | 'timeZone'>,
    signal: AbortSignal,
  ): Promise<Result<Look, LookError>>;

  /** Cancels the response with one request. Resolves when it was sent, or after a limited time. */
  cancel(id: string): Promise<void>;
}
