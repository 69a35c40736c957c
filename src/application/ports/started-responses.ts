import type { Result } from 'neverthrow';
import type { SearchError } from '../../domain/answers/answer-error.ts';
import type { Kind } from '../../domain/values/kind.ts';
import type { SearchOutcome, SearchRequest } from './llm-search.ts';

/** What a look at a response shows: the number of searches so far, and the outcome of a response that has ended. */
export interface Look {
  readonly searches: number;
  readonly outcome?: SearchOutcome;
}

/** Why a look failed. `unknown_response`: the API does not have it, or no longer (404). `isPassing`: a later look may succeed. */
export type LookError = Kind<'unknown_response'> | Kind<'not_looked', { error: SearchError; isPassing: boolean }>;

/** Responses that continue at the API, in whatever process they began. No promise rejects. `asked` says how a reply is made. */
export interface StartedResponses {
  /** One request. Ends with `not_looked` (`aborted`) soon after `signal` aborts, and leaves no listener on it. */
  look(
    id: string,
    asked: Pick<SearchRequest, 'profile' | 'timeZone'>,
    signal: AbortSignal,
  ): Promise<Result<Look, LookError>>;

  /** One request, which ends the response. Resolves when it was sent, or after a limited time. */
  cancel(id: string): Promise<void>;
}
