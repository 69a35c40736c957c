import type { EmptyAnswer } from './answer-result.ts';
import type { ArgumentProblem } from './question.ts';
import type { ToolName } from './tool-name.ts';

/** What the API reported about a failure, for troubleshooting (spec 8.2). Contains no key and no question. */
interface Diagnostics {
  /** HTTP status, or the error code of a failed connection. */
  readonly status?: number | string;
  /** The API's error type, such as `invalid_request_error`. */
  readonly type?: string;
  readonly name?: string;
}

/** One member per kind, so that TypeScript can narrow by `kind`. */
type Failure<Kind extends string, Details = object> = Kind extends unknown
  ? { readonly kind: Kind } & Readonly<Details>
  : never;

/** Failures of a search. `detail` is the API's message, shortened and without keys. */
export type SearchError = { readonly diagnostics?: Diagnostics } & (
  | Failure<'no_api_key' | 'placeholder_api_key' | 'malformed_api_key' | 'rejected_api_key', { variable: string }>
  | Failure<'missing_permission', { variable: string; detail: string }>
  | Failure<'model_not_found', { model: string; detail: string }>
  | Failure<'forbidden' | 'bad_request' | 'quota_exhausted' | 'failed' | 'unreadable_reply', { detail: string }>
  | Failure<'rate_limited' | 'server_error', { attempts: number; retryAfterMs?: number; detail: string }>
  | Failure<'connection_failed', { attempts: number; host: string; detail: string }>
  | Failure<'not_recorded', { recorded: readonly string[] }>
  | Failure<'unreadable_recordings', { path: string; detail: string }>
  | Failure<'content_filtered' | 'aborted'>
  /** Cached-only search and blocked requests (rulings A3, A7). */
  | Failure<'cached_search_rejected' | 'data_residency', { detail: string }>
  /** Of answers that take minutes (rulings K4, K9). `interrupted`: the response continues, but its stream cannot be read any more. */
  | Failure<'store_rejected', { detail: string }>
  /** Not by the call: by `tasks/cancel`, or at the API. */
  | Failure<'search_cancelled'>
  | Failure<'interrupted', Interruption>
  /** Of grounded answers (rulings L3, L7, L13, L17, L19). */
  | Failure<'too_many_functions', { count: number }>
  | Failure<'no_final_answer', { limit: 'rounds' | 'calls' | 'time'; max: number }>
  | Failure<'history_rejected' | 'policy_violation' | 'web_not_restricted', { detail: string }>
);

interface Interruption {
  /** Why it cannot be looked at either. */
  readonly reason?: Exclude<SearchError, { kind: 'aborted' }>;
  readonly handle?: string | undefined;
}

/** Every failure that a caller can act on (ruling 4). */
export type AnswerError =
  | Exclude<SearchError, { kind: 'aborted' }>
  | EmptyAnswer
  | Failure<'not_searched'>
  | Failure<'invalid_arguments', { problems: readonly ArgumentProblem[] }>
  | Failure<'no_profile', { tool: ToolName }>
  /** `limit`: the key of the configuration, if it is not `request.timeout_ms`. `handle`: the search continues. */
  | Failure<'timed_out', { timeoutMs: number; limit?: 'long_answers.max_ms'; handle?: string }>
  /** A handle that names no answer of this caller (ruling K12). */
  | Failure<'unknown_answer'>
  /** `isDetached`: its search continues (ruling K7). */
  | Failure<'cancelled', { isDetached?: true }>;
