import type { Kind } from '../values/kind.ts';
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

/** Failures of a search. `detail` is the API's message, shortened and without keys. */
export type SearchError = { readonly diagnostics?: Diagnostics } & (
  | Kind<'no_api_key' | 'placeholder_api_key' | 'malformed_api_key' | 'rejected_api_key', { variable: string }>
  | Kind<'missing_permission', { variable: string; detail: string }>
  | Kind<'model_not_found', { model: string; detail: string }>
  | Kind<'forbidden' | 'bad_request' | 'quota_exhausted' | 'failed' | 'unreadable_reply', { detail: string }>
  | Kind<'rate_limited' | 'server_error', { attempts: number; retryAfterMs?: number; detail: string }>
  | Kind<'connection_failed', { attempts: number; host: string; detail: string }>
  | Kind<'not_recorded', { recorded: readonly string[] }>
  | Kind<'unreadable_recordings', { path: string; detail: string }>
  | Kind<'content_filtered' | 'aborted'>
  /** Cached-only search and blocked requests (rulings A3, A7). */
  | Kind<'cached_search_rejected' | 'data_residency', { detail: string }>
  /** Of answers that take minutes (rulings K4, K9). `interrupted`: the response continues, but its stream cannot be read any more. */
  | Kind<'store_rejected', { detail: string }>
  /** Not by the call: by `tasks/cancel`, or at the API. */
  | Kind<'search_cancelled'>
  | Kind<'interrupted', Interruption>
  /** Of grounded answers (rulings L3, L7, L13, L17, L19). */
  | Kind<'too_many_functions', { count: number }>
  | Kind<'no_final_answer', { limit: 'rounds' | 'calls' | 'time'; max: number }>
  | Kind<'history_rejected' | 'policy_violation' | 'web_not_restricted', { detail: string }>
);

/** `reason`: why it cannot be looked at either. */
interface Interruption {
  readonly reason?: Exclude<SearchError, { kind: 'aborted' }>;
  readonly handle?: string | undefined;
}

/** A reply without text. `reason` is the API's reason, if it reported one. */
export type EmptyAnswer = Kind<'empty_answer', { reason?: string | undefined }>;

/** Every failure that a caller can act on (ruling 4). */
export type AnswerError =
  | Exclude<SearchError, { kind: 'aborted' }>
  | EmptyAnswer
  | Kind<'not_searched' | 'audit_unavailable'>
  | Kind<'invalid_arguments', { problems: readonly ArgumentProblem[] }>
  | Kind<'no_profile', { tool: ToolName }>
  /** `limit`: the key of the configuration, if it is not `request.timeout_ms`. `handle`: the search continues. */
  | Kind<'timed_out', { timeoutMs: number; limit?: 'long_answers.max_ms'; handle?: string }>
  /** A handle that names no answer of this caller (ruling K12). */
  | Kind<'unknown_answer'>
  /** `isDetached`: its search continues (ruling K7). */
  | Kind<'cancelled', { isDetached?: true }>;
