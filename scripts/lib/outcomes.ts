import type { AnswerError } from '../../src/domain/answers/answer-error.ts';
import type { ToolCallError } from '../../src/domain/gateway/tool-call-error.ts';

/** The meaning of each outcome of an answer tool in `ask --json`, metrics and the access log; empty if its name says it. */
export const ANSWER_OUTCOMES: Readonly<
  Record<'answered' | 'unfinished' | 'internal_error' | AnswerError['kind'], string>
> = {
  answered: '',
  audit_unavailable: 'the audit cannot be written, so the question was not asked',
  bad_request: 'the API rejected the request (400)',
  cached_search_rejected: 'the API does not accept `search.live: false`',
  cancelled: '',
  connection_failed: '',
  content_filtered: '',
  data_residency: 'the account requires another base URL',
  empty_answer: '',
  failed: 'the API ended the response as failed',
  forbidden: 'the API denied access (403)',
  history_rejected: "the API did not accept the conversation with the tools' outputs",
  internal_error: '',
  interrupted: 'the connection of an answer that takes minutes broke',
  invalid_arguments: '',
  malformed_api_key: '',
  missing_permission: 'the key lacks a permission (401)',
  model_not_found: '',
  no_api_key: '',
  no_final_answer: 'no grounded answer within its rounds, calls or time',
  no_profile: 'the configuration removes the model',
  not_recorded: 'offline: no recording matches the question',
  not_searched: 'the model made no required search',
  placeholder_api_key: '',
  policy_violation: 'OpenAI blocked the request',
  quota_exhausted: 'the OpenAI account has no quota left (429)',
  rate_limited: 'still 429 after all attempts',
  rejected_api_key: 'the API rejected the key (401)',
  search_cancelled: 'the search was cancelled elsewhere',
  server_error: 'still 5xx after all attempts',
  store_required: 'the API refuses background mode without `openai.store`',
  timed_out: '',
  unfinished: 'no answer in time, but the search continues; the result has a handle',
  unrecorded: 'the question was asked, and its answer is withheld, because the audit cannot be written',
  unknown_answer: 'the handle names no answer of the caller',
  unread_api_key: 'the file or the command of the key could not be read',
  unreadable_recordings: '',
  unreadable_reply: 'the response is not one of the Responses API',
  web_not_restricted: 'the API rejects requests that keep the web closed',
};

const OF_TOOLS: Readonly<Record<'answered' | 'asked' | 'tool_error' | 'internal_error' | ToolCallError['kind'], true>> =
  {
    answered: true,
    asked: true,
    audit_unavailable: true,
    cancelled: true,
    crashed: true,
    input_required: true,
    internal_error: true,
    invalid_input: true,
    invalid_result: true,
    json_rpc: true,
    login_required: true,
    no_open_question: true,
    not_available: true,
    not_read_only: true,
    overloaded: true,
    shutting_down: true,
    timed_out: true,
    too_large: true,
    tool_changed: true,
    tool_error: true,
    unauthorized: true,
    unknown_server: true,
    unknown_tool: true,
    unrecorded: true,
  };

/** The outcomes of a call of a tool of a server. The reference of REST says what the code of each means. */
export const TOOL_OUTCOMES: readonly string[] = Object.keys(OF_TOOLS);
