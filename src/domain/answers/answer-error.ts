import type { Kind } from '../values/kind.ts';
import type { ValueFailure } from '../values/value-failure.ts';
import type { ArgumentProblem, ToolName } from './question.ts';

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
  | Kind<'unread_api_key', { variable: string; failure: Exclude<ValueFailure, { kind: 'aborted' }> }>
  | Kind<'missing_permission', { variable: string; detail: string }>
  | Kind<'model_not_found', { model: string; detail: string }>
  | Kind<'forbidden' | 'bad_request' | 'quota_exhausted' | 'failed' | 'unreadable_reply', { detail: string }>
  | Kind<'rate_limited' | 'server_error', { attempts: number; retryAfterMs?: number; detail: string }>
  | Kind<'connection_failed', { attempts: number; host: string; detail: string }>
  | Kind<'not_recorded', { offered: readonly string[]; others: number }>
  | Kind<'unreadable_recordings', { path: string; detail: string }>
  | Kind<'content_filtered' | 'aborted'>
  /** The API does not accept `search.live: false`, or no background mode without `openai.store`, or the account requires another base URL. */
  | Kind<'cached_search_rejected' | 'store_required' | 'data_residency', { detail: string }>
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

/** The call is wrong: its caller can mend it, and nothing was asked. */
const WRONG = { isWrong: true, isMade: false } as const;
/** The API was not asked: the call counts for no quota, and can be repeated. */
const NOT_ASKED = { isWrong: false, isMade: false } as const;
/** The API may have been asked. */
const ASKED = { isWrong: false, isMade: true } as const;

/** What programs know of each error. */
export const ANSWER_ERRORS = {
  invalid_arguments: WRONG,
  no_profile: NOT_ASKED,
  no_api_key: NOT_ASKED,
  placeholder_api_key: NOT_ASKED,
  malformed_api_key: NOT_ASKED,
  unread_api_key: NOT_ASKED,
  unknown_answer: NOT_ASKED,
  audit_unavailable: NOT_ASKED,
  unrecorded: ASKED,
  rejected_api_key: ASKED,
  missing_permission: ASKED,
  model_not_found: ASKED,
  forbidden: ASKED,
  bad_request: ASKED,
  quota_exhausted: ASKED,
  failed: ASKED,
  unreadable_reply: ASKED,
  rate_limited: ASKED,
  server_error: ASKED,
  connection_failed: ASKED,
  not_recorded: ASKED,
  unreadable_recordings: ASKED,
  content_filtered: ASKED,
  cached_search_rejected: ASKED,
  store_required: ASKED,
  data_residency: ASKED,
  search_cancelled: ASKED,
  interrupted: ASKED,
  no_final_answer: ASKED,
  history_rejected: ASKED,
  policy_violation: ASKED,
  web_not_restricted: ASKED,
  empty_answer: ASKED,
  not_searched: ASKED,
  timed_out: ASKED,
  cancelled: ASKED,
} as const satisfies Readonly<Record<AnswerError['kind'], { readonly isWrong: boolean; readonly isMade: boolean }>>;

type Rows = typeof ANSWER_ERRORS;

/** The errors of calls that are wrong. MCP and REST have a form of their own for them. */
export type WrongCall = Extract<
  AnswerError,
  Kind<{ [K in keyof Rows]: Rows[K]['isWrong'] extends true ? K : never }[keyof Rows]>
>;

export function isWrongCall(error: AnswerError): error is WrongCall {
  return ANSWER_ERRORS[error.kind].isWrong;
}
