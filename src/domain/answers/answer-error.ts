import type { Kind } from '../values/kind.ts';
import type { ArgumentProblem } from './question.ts';
import type { ToolName } from './tool-name.ts';

/** What the API reported about a failure, for troubleshooting. Contains no key and no question. */
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
  | Kind<'not_recorded', { offered: readonly string[]; others: number }>
  | Kind<'unreadable_recordings', { path: string; detail: string }>
  | Kind<'content_filtered' | 'aborted'>
  /** The API does not accept `search.live: false`, or the account requires another base URL. */
  | Kind<'cached_search_rejected' | 'data_residency', { detail: string }>
  /** Failures of answers that take minutes. `unknown_answer`: the caller has no such answer, or it has expired. `search_cancelled`: another call cancelled the search. */
  | Kind<'unknown_answer' | 'search_cancelled'>
  /** The response continues, but cannot be read. */
  | Kind<'interrupted', Interruption>
  /** Failures of grounded answers. */
  | Kind<'no_final_answer', { limit: 'rounds' | 'calls' | 'time'; max: number }>
  | Kind<'history_rejected' | 'policy_violation' | 'web_not_restricted', { detail: string }>
);

/** `reason`: why a look at the response failed, too. */
interface Interruption {
  readonly reason?: Exclude<SearchError, { kind: 'aborted' }>;
  readonly handle?: string | undefined;
}

/** A reply without text. `reason` is the API's reason, if it reported one. */
export type EmptyAnswer = Kind<'empty_answer', { reason?: string | undefined }>;

/** Every failure that a caller can act on. `effects`: the tools that the model called before it, and that may have effects. */
export type AnswerError = { readonly effects?: readonly string[] } & (
  | Exclude<SearchError, { kind: 'aborted' }>
  | EmptyAnswer
  | Kind<'not_searched' | 'audit_unavailable' | 'unrecorded'>
  | Kind<'invalid_arguments', { problems: readonly ArgumentProblem[] }>
  | Kind<'no_profile', { tool: ToolName }>
  | Kind<'timed_out', { timeoutMs: number }>
  /** `isDetached`: the search continues at the API. */
  | Kind<'cancelled', { isDetached?: true }>
);

/** Whether the API may have been asked before each error. Other calls count for no quota, and can be repeated. */
export const ANSWER_ERRORS: Readonly<Record<AnswerError['kind'], { readonly isMade: boolean }>> = {
  invalid_arguments: { isMade: false },
  no_profile: { isMade: false },
  no_api_key: { isMade: false },
  placeholder_api_key: { isMade: false },
  malformed_api_key: { isMade: false },
  unknown_answer: { isMade: false },
  audit_unavailable: { isMade: false },
  unrecorded: { isMade: true },
  rejected_api_key: { isMade: true },
  missing_permission: { isMade: true },
  model_not_found: { isMade: true },
  forbidden: { isMade: true },
  bad_request: { isMade: true },
  quota_exhausted: { isMade: true },
  failed: { isMade: true },
  unreadable_reply: { isMade: true },
  rate_limited: { isMade: true },
  server_error: { isMade: true },
  connection_failed: { isMade: true },
  not_recorded: { isMade: true },
  unreadable_recordings: { isMade: true },
  content_filtered: { isMade: true },
  cached_search_rejected: { isMade: true },
  data_residency: { isMade: true },
  search_cancelled: { isMade: true },
  interrupted: { isMade: true },
  no_final_answer: { isMade: true },
  history_rejected: { isMade: true },
  policy_violation: { isMade: true },
  web_not_restricted: { isMade: true },
  empty_answer: { isMade: true },
  not_searched: { isMade: true },
  timed_out: { isMade: true },
  cancelled: { isMade: true },
};
