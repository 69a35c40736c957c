import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/** What each outcome of a call means, for `error.kind` of `ask --json`, the metrics and the access log; one without an entry is an error. */
const MEANINGS = {
  answered: 'the call has an answer, or a result',
  task: 'no answer yet; the search continues, and the result is a task',
  unfinished: 'no answer in time; the search continues, and the result says how to get its answer',
  detached: 'the caller cancelled, or disconnected, and the search continues',
  internal_error: 'a bug of this program',
  no_api_key: 'the variable of the API key is not set',
  placeholder_api_key: 'the key is a placeholder that the client did not fill in',
  malformed_api_key: 'the key contains characters that no key has',
  rejected_api_key: 'the API rejected the key (401)',
  missing_permission: 'the key lacks a permission (401)',
  model_not_found: 'the model does not exist, or the key may not use it',
  forbidden: 'the API denied access (403)',
  bad_request: 'the API rejected the request (400)',
  quota_exhausted: 'the quota of the OpenAI account is used up (429)',
  failed: 'the API ended the response as failed',
  unreadable_reply: 'the response is not one of the Responses API',
  rate_limited: 'still 429 after all attempts',
  server_error: 'still 5xx after all attempts',
  connection_failed: 'no connection to the API after all attempts',
  not_recorded: 'offline: no recording matches the question',
  unreadable_recordings: 'offline: the recordings cannot be read',
  content_filtered: "the API's content filter stopped the answer",
  cached_search_rejected: 'the API does not accept `search.live: false`',
  data_residency: 'the account requires another base URL',
  store_rejected: 'the API does not accept the value of `openai.store` for a tool in `long_answers.tools`',
  interrupted: 'the stream of an answer that takes minutes broke, and it could not be looked at',
  too_many_functions: 'more own tools than the API accepts',
  no_final_answer: 'the model did not answer within the rounds, calls or time of a grounded answer',
  history_rejected: "the API did not accept the conversation with the tools' outputs",
  policy_violation: 'OpenAI blocked the request, because it may transfer data',
  web_not_restricted: 'the API accepts no request in which the web is closed',
  empty_answer: 'the model replied without any text',
  not_searched: 'the profile requires a search, and the model made none',
  invalid_arguments: 'the arguments of the call are not valid',
  no_profile: 'the configuration removes the model of the tool',
  timed_out: 'no answer, or no result, in time',
  search_cancelled: 'the search was cancelled by `tasks/cancel`, or at the API',
  unknown_answer: 'the handle names no answer of the caller',
  cancelled: 'the caller cancelled, or disconnected',
  tool_error: 'the tool answered with `isError`',
  json_rpc: 'the server answered with a JSON-RPC error',
  crashed: 'the server, or the connection to it, was lost during the call',
  too_large: 'the result is larger than `max_response_bytes`',
  invalid_result: "the result is not one of MCP, or does not match the tool's schema",
  unauthorized: 'a remote server answered 401 or 403',
  login_required: 'a person must sign in to the server first',
  unknown_server: 'no server has this name',
  unknown_tool: 'the server has no tool of this name',
  tool_changed: 'the tool is new or has changed, and is not approved (`gateway.lock`)',
  not_read_only: 'the tool may change something, and `read_tool` was to call it',
  unchecked_input: 'the input could not be checked in time',
  invalid_input: "the input does not match the tool's schema",
  not_available: 'the server is not running',
  overloaded: 'too many calls run on the server, or wait for it',
  shutting_down: 'the program is ending',
  audit_unavailable: 'the line of the call cannot be written to the audit',
};

/** The rows of the two lists: outcome, meaning; for calls of tools of servers, also the code in REST. */
export function outcomeRows({ toolErrorCode }) {
  const outcomes = outcomesOf({
    'src/adapters/inbound/mcp/call-meter.ts': 'CallReport',
    'src/application/gateway/call-tool.ts': 'ToolCallReport',
  });
  const codeOf = (outcome) => {
    if (outcome === 'answered') return undefined;
    if (outcome === 'tool_error') return '`TOOL_EXECUTION_ERROR`';
    if (outcome === 'json_rpc') return '`TOOL_EXECUTION_ERROR`, or by its code';
    return `\`${toolErrorCode({ kind: outcome })}\``;
  };
  return {
    answers: outcomes.CallReport.map((outcome) => [`\`${outcome}\``, meaningOf(outcome)]),
    tools: outcomes.ToolCallReport.map((outcome) => [`\`${outcome}\``, meaningOf(outcome), codeOf(outcome)]),
  };
}

function meaningOf(outcome) {
  if (MEANINGS[outcome] === undefined) throw new Error(`scripts/lib/outcomes.js does not describe ${outcome}`);
  return MEANINGS[outcome];
}

/** The literals of the member `outcome` of each interface: `answered`, then the failures in alphabetical order. */
function outcomesOf(interfaces) {
  const path = (file) => fileURLToPath(new URL(`../../${file}`, import.meta.url));
  const program = ts.createProgram(Object.keys(interfaces).map(path), {
    strict: true,
    noEmit: true,
    types: [],
    // The utility types, without the DOM, which takes seconds.
    lib: ['lib.es5.d.ts'],
  });
  const checker = program.getTypeChecker();
  const outcomes = Object.entries(interfaces).map(([file, name]) => {
    const source = program.getSourceFile(path(file));
    const declaration = source.statements.find((node) => ts.isInterfaceDeclaration(node) && node.name.text === name);
    const member = declaration.members.find((node) => node.name?.getText(source) === 'outcome');
    const { types } = checker.getTypeFromTypeNode(member.type);
    const [answered, ...failures] = ['answered', ...types.map(({ value }) => value).toSorted()];
    return [name, [answered, ...failures.filter((failure) => failure !== answered)]];
  });
  return Object.fromEntries(outcomes);
}
