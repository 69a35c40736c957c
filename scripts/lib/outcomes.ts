import type { AnswerError } from '../../src/domain/answers/answer-error.ts';
import type { ToolCallError } from '../../src/domain/gateway/tool-call-error.ts';

const COMMON = {
  answered: 'the call has an answer, or a result',
  audit_unavailable: 'the line of the call cannot be written to the audit',
  cancelled: 'the caller cancelled, or disconnected',
  timed_out: 'no answer, or no result, in time',
};

/** What each outcome of a call of an answer tool means, for `error.kind` of `ask --json`, the metrics and the access log. */
export const ANSWER_OUTCOMES: Readonly<
  Record<'answered' | 'unfinished' | 'internal_error' | AnswerError['kind'], string>
> = {
  ...COMMON,
  bad_request: 'the API rejected the request (400)',
  cached_search_rejected: 'the API does not accept `search.live: false`',
  connection_failed: 'no connection to the API after all attempts',
  content_filtered: "the API's content filter stopped the answer",
  data_residency: 'the account requires another base URL',
  empty_answer: 'the model replied without any text',
  failed: 'the API ended the response as failed',
  forbidden: 'the API denied access (403)',
  history_rejected: "the API did not accept the conversation with the tools' outputs",
  internal_error: 'a bug of this program',
  interrupted: 'the stream of an answer that takes minutes broke, and it could not be looked at',
  invalid_arguments: 'the arguments of the call are not valid',
  malformed_api_key: 'the key contains characters that no key has',
  missing_permission: 'the key lacks a permission (401)',
  model_not_found: 'the model does not exist, or the key may not use it',
  no_api_key: 'the variable of the API key is not set',
  no_final_answer: 'the model did not answer within the rounds, calls or time of a grounded answer',
  no_profile: 'the configuration removes the model of the tool',
  not_recorded: 'offline: no recording matches the question',
  not_searched: 'the profile requires a search, and the model made none',
  placeholder_api_key: 'the key is a placeholder that the client did not fill in',
  policy_violation: 'OpenAI blocked the request, because it may transfer data',
  quota_exhausted: 'the quota of the OpenAI account is used up (429)',
  rate_limited: 'still 429 after all attempts',
  rejected_api_key: 'the API rejected the key (401)',
  search_cancelled: 'the search was cancelled at the API, or by another call',
  server_error: 'still 5xx after all attempts',
  unfinished: 'no answer in time; the search continues, and the result says how to get its answer',
  unknown_answer: 'the handle names no answer of the caller',
  unreadable_recordings: 'offline: the recordings cannot be read',
  unreadable_reply: 'the response is not one of the Responses API',
  web_not_restricted: 'the API accepts no request in which the web is closed',
};

/** The same for a call of a tool of a server. */
export const TOOL_OUTCOMES: Readonly<
  Record<'answered' | 'tool_error' | 'internal_error' | ToolCallError['kind'], string>
> = {
  ...COMMON,
  internal_error: 'a bug of this program',
  crashed: 'the server, or the connection to it, was lost during the call',
  invalid_input: "the input does not match the tool's schema",
  invalid_result: "the result is not one of MCP, or does not match the tool's schema",
  json_rpc: 'the server answered with a JSON-RPC error',
  login_required: 'a person must sign in to the server first',
  not_available: 'the server is not running',
  not_read_only: 'the tool may change something, and `read_tool` was to call it',
  overloaded: 'too many calls run on the server, or wait for it',
  shutting_down: 'the program is ending',
  too_large: 'the result is larger than `max_response_bytes`',
  tool_changed: 'the tool is new or has changed, and is not approved (`gateway.lock`)',
  tool_error: 'the tool answered with `isError`',
  unauthorized: 'a remote server answered 401 or 403',
  unknown_server: 'no server has this name',
  unknown_tool: 'the server has no tool of this name',
};
