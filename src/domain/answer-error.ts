import type { EmptyAnswer } from './answer-result.ts';
import type { ArgumentProblem } from './question.ts';
import type { ToolName } from './tool-name.ts';

/** What the API said of a failure, for those who look for its cause (spec 8.2). Never holds a key or a question. */
export interface Diagnostics {
  /** HTTP status, or the code of a failed connection. */
  readonly status?: number | string;
  /** The API's error type, such as `invalid_request_error`. */
  readonly type?: string;
  /** The name of the exception. */
  readonly name?: string;
}

/** Failures of a search; `detail` is the API's own sentence, keys taken out, shortened. */
export type SearchError = { readonly diagnostics?: Diagnostics } & (
  | { readonly kind: 'no_api_key'; readonly variable: string }
  | { readonly kind: 'malformed_api_key'; readonly variable: string }
  | { readonly kind: 'rejected_api_key'; readonly variable: string }
  | { readonly kind: 'forbidden'; readonly detail: string }
  | { readonly kind: 'model_not_found'; readonly model: string; readonly detail: string }
  | { readonly kind: 'bad_request'; readonly detail: string }
  | {
      readonly kind: 'rate_limited';
      readonly attempts: number;
      readonly retryAfterMs?: number;
      readonly detail: string;
    }
  | { readonly kind: 'quota_exhausted'; readonly detail: string }
  | {
      readonly kind: 'server_error';
      readonly attempts: number;
      readonly retryAfterMs?: number;
      readonly detail: string;
    }
  | { readonly kind: 'connection_failed'; readonly attempts: number; readonly host: string; readonly detail: string }
  | { readonly kind: 'content_filtered' }
  | { readonly kind: 'failed'; readonly detail: string }
  | { readonly kind: 'unreadable_reply'; readonly detail: string }
  | { readonly kind: 'not_recorded'; readonly recorded: readonly string[] }
  | { readonly kind: 'unreadable_recordings'; readonly path: string; readonly detail: string }
  | { readonly kind: 'aborted' }
);

/** Every failure that a caller may act on (ruling 4). `kind` tells them apart. */
export type AnswerError =
  | Exclude<SearchError, { kind: 'aborted' }>
  | EmptyAnswer
  | { readonly kind: 'invalid_arguments'; readonly problems: readonly ArgumentProblem[] }
  | { readonly kind: 'no_profile'; readonly tool: ToolName }
  | { readonly kind: 'timed_out'; readonly timeoutMs: number }
  | { readonly kind: 'cancelled' };
