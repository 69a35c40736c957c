import { describe, expect, test } from 'vitest';
import { messageFor } from '../../../../../src/adapters/inbound/words/error-messages.ts';
import { duration } from '../../../../../src/adapters/inbound/words/plain.ts';
import type { AnswerError } from '../../../../../src/domain/answers/answer-error.ts';

type Kind = AnswerError['kind'];

/** One error of each kind; the compiler reports a kind that is missing here. */
const PINNED: { readonly [K in Kind]: readonly [Extract<AnswerError, { readonly kind: K }>, string] } = {
  invalid_arguments: [
    { kind: 'invalid_arguments', problems: [{ argument: 'query', received: undefined, accepted: 'a question' }] },
    'query: required; pass a question',
  ],
  no_profile: [
    { kind: 'no_profile', tool: 'answer_quick' },
    'The tool answer_quick has no model, because the configuration removes the profile answer. Set model_profiles.answer.model or model_profiles.answer_quick.model, or MODEL_ANSWER, to a model ID.',
  ],
  no_api_key: [
    { kind: 'no_api_key', variable: 'OPENAI_API_KEY' },
    "No API key: the environment variable OPENAI_API_KEY is not set. Set it (or OPENAI_API_KEY_FILE, the path of a file that contains the key) in the MCP client's configuration of this server or in your shell, or start with --offline to try recorded answers.",
  ],
  malformed_api_key: [
    { kind: 'malformed_api_key', variable: 'OPENAI_API_KEY' },
    'The key in OPENAI_API_KEY contains characters that are not valid in an API key. Copy it again, without spaces or line breaks.',
  ],
  unread_api_key: [
    {
      kind: 'unread_api_key',
      variable: 'OPENAI_API_KEY_COMMAND',
      failure: { kind: 'failed', command: 'op', code: '1', lastLine: 'not signed in' },
    },
    'The API key could not be read: the command op failed (exit code 1): not signed in. Check OPENAI_API_KEY_COMMAND, and run the command or read the file in a terminal.',
  ],
  placeholder_api_key: [
    { kind: 'placeholder_api_key', variable: 'OPENAI_API_KEY' },
    'The key in OPENAI_API_KEY is a placeholder, which the MCP client or the shell did not fill in. Set it to a real key.',
  ],
  missing_permission: [
    { kind: 'missing_permission', variable: 'OPENAI_API_KEY', detail: 'Missing scopes: api.responses.write' },
    'The key in OPENAI_API_KEY does not have a required permission (401): Missing scopes: api.responses.write. Add the permission to the key, or use another key.',
  ],
  rejected_api_key: [
    { kind: 'rejected_api_key', variable: 'MY_KEY' },
    'The API rejected the key in MY_KEY (401). It may be mistyped, revoked, missing a permission, or belong to another organization or base URL.',
  ],
  forbidden: [
    { kind: 'forbidden', detail: 'Country not supported' },
    "The API denied access (403): Country not supported. Check the permissions of the key's project, and whether your country and model are supported.",
  ],
  model_not_found: [
    { kind: 'model_not_found', model: 'gpt-9', detail: 'No such model.' },
    'The model gpt-9 does not exist, or this key has no access to it: No such model. Change the model of the profile (model_profiles, or MODEL_ANSWER).',
  ],
  bad_request: [
    { kind: 'bad_request', detail: 'Bad input.' },
    'The API rejected the request: Bad input. Check the model of the profile and the base URL in the configuration (--show-config).',
  ],
  rate_limited: [
    { kind: 'rate_limited', attempts: 4, retryAfterMs: 90_000, detail: 'Slow down.' },
    'Rate limit reached (429); gave up after 4 attempts: Slow down. The API asks you to wait 90 s; try again after that.',
  ],
  quota_exhausted: [
    { kind: 'quota_exhausted', detail: 'You exceeded your quota.' },
    'The quota of the account is exhausted (429): You exceeded your quota. Check your plan and billing; waiting does not help.',
  ],
  server_error: [
    { kind: 'server_error', attempts: 1, detail: 'HTTP status 503' },
    'The API failed; gave up after 1 attempt: HTTP status 503. Try again shortly.',
  ],
  connection_failed: [
    { kind: 'connection_failed', attempts: 4, host: 'api.openai.com', detail: 'ECONNREFUSED' },
    'Could not connect to api.openai.com (4 attempts, ECONNREFUSED). Check the network, the proxy variables and the base URL, then try again.',
  ],
  cached_search_rejected: [
    { kind: 'cached_search_rejected', detail: "Unknown parameter: 'tools[0].external_web_access'" },
    "The API does not accept a search of the cached index only (search.live: false): Unknown parameter: 'tools[0].external_web_access'. Change the model, or set search.live to true.",
  ],
  store_required: [
    { kind: 'store_required', detail: 'Background mode requires store to be true' },
    'The API continues answers in the background only if it may store them: Background mode requires store to be true. Set openai.store to true, or request.background to false.',
  ],
  data_residency: [
    { kind: 'data_residency', detail: 'Use https://eu.api.openai.com/v1' },
    'The account requires another base URL: Use https://eu.api.openai.com/v1. Set openai.base_url (OPENAI_BASE_URL) to it.',
  ],
  not_searched: [
    { kind: 'not_searched' },
    'The model answered without a search, but the profile requires one (search: required). Ask again, or set search to auto.',
  ],
  interrupted: [{ kind: 'interrupted' }, 'The connection to the API was lost before the end of the answer. Try again.'],
  no_final_answer: [
    { kind: 'no_final_answer', limit: 'rounds', max: 6 },
    'The model did not answer within 6 rounds (grounding.max_rounds). Ask a narrower question, or raise the limit.',
  ],
  history_rejected: [
    { kind: 'history_rejected', detail: "Item with id 'rs_1' not found" },
    "The API did not accept the conversation with the tools' outputs: Item with id 'rs_1' not found. Ask again; if it fails again, use another model.",
  ],
  policy_violation: [
    { kind: 'policy_violation', detail: 'Blocked' },
    'OpenAI blocked this request, because it may transfer data in an unintended way: Blocked. The request is not sent again. Check what the tools returned, and which tools grounding.tools offers.',
  ],
  web_not_restricted: [
    { kind: 'web_not_restricted', detail: "Unknown parameter: 'tool_choice'" },
    "The API rejects requests in which the web is closed, so a search could leak private data: Unknown parameter: 'tool_choice'. Change the model, or set grounding.web to never.",
  ],
  content_filtered: [
    { kind: 'content_filtered' },
    "The API's content filter stopped the answer. Rephrase the question.",
  ],
  failed: [
    { kind: 'failed', detail: 'server_error: it broke' },
    'The API could not complete the answer: server_error: it broke. Try again; if it fails again, ask a simpler question or use another model.',
  ],
  unreadable_reply: [
    { kind: 'unreadable_reply', detail: 'HTML' },
    'The response could not be read: HTML. Check that the base URL points to a Responses API.',
  ],
  not_recorded: [
    { kind: 'not_recorded', offered: ['What is MCP?', '東京の天気は？'], others: 2 },
    'No recording matches this question (offline mode). Remove --offline, or LLM_ADAPTER (llm.adapter), to ask the API, or ask one of these:\n- What is MCP?\n- 東京の天気は？\n2 other recorded questions not shown.',
  ],
  unreadable_recordings: [
    { kind: 'unreadable_recordings', path: '/no', detail: 'ENOENT' },
    'The recordings in /no cannot be read (ENOENT). Check the path (--offline, LLM_RECORDINGS or llm.recordings).',
  ],
  empty_answer: [{ kind: 'empty_answer' }, 'The model replied without any text. Try again, or rephrase the question.'],
  timed_out: [
    { kind: 'timed_out', timeoutMs: 300_000 },
    'No answer within 300 s. Ask a narrower question, use answer_quick, or raise request.timeout_ms (OPENAI_API_TIMEOUT).',
  ],
  unknown_answer: [
    { kind: 'unknown_answer' },
    'No answer with this ID: it has expired, or it belongs to another caller. Ask the original question.',
  ],
  search_cancelled: [
    { kind: 'search_cancelled' },
    'The search was cancelled. Ask the question again to start a new search.',
  ],
  audit_unavailable: [
    { kind: 'audit_unavailable' },
    'AUDIT_UNAVAILABLE: The call was not made, because it cannot be recorded. Try again later; an operator must check why the audit file cannot be written.',
  ],
  unrecorded: [
    { kind: 'unrecorded' },
    'CALL_UNRECORDED: The call was made, and its result is withheld, because it cannot be recorded. Do not repeat it: what it did would be done twice. An operator must check why the audit file cannot be written.',
  ],
  cancelled: [{ kind: 'cancelled' }, 'The question was cancelled.'],
};

// S9
describe('the message for', () => {
  test('a call that only stopped waiting says so', () => {
    expect(messageFor({ kind: 'cancelled', isDetached: true })).toBe('Stopped waiting; the search continues.');
  });

  test.each(Object.values(PINNED))('$kind', (error, words) => {
    expect(messageFor(error)).toBe(words);
  });

  test('an answer that can still be fetched names its handle', () => {
    const reason = { kind: 'content_filtered' } as const;
    expect(messageFor({ kind: 'interrupted', reason, handle: 'la1.d' })).toBe(
      "The answer could not be fetched, and the search was not cancelled. The API's content filter stopped the answer. Rephrase the question. To get the answer, ask again with this query: la1.d",
    );
  });

  test('an answer that failed after tools with effects were called names them', () => {
    expect(
      messageFor({ kind: 'rate_limited', attempts: 3, detail: 'Slow down.', effects: ['bank/pay', 'bank/mail'] }),
    ).toBe(
      'Rate limit reached (429); gave up after 3 attempts: Slow down. Try again shortly. Before that, the model called tools that may have effects (bank/pay, bank/mail): check what they did before you ask again.',
    );
  });

  test('a key in a file names the file', () => {
    const variable = 'OPENAI_API_KEY_FILE';
    for (const kind of ['malformed_api_key', 'rejected_api_key', 'placeholder_api_key'] as const) {
      expect(messageFor({ kind, variable })).toContain('key in the file that OPENAI_API_KEY_FILE names');
    }
  });

  test('text of the API contains no escape sequence', () => {
    expect(messageFor({ kind: 'forbidden', detail: 'No\u001B[2J\u009B7m\u202E.' })).toMatch(
      /^The API denied access \(403\): No\. /,
    );
  });

  test('an incomplete answer without text names the key to raise', () => {
    expect(messageFor({ kind: 'empty_answer', reason: 'max_output_tokens' })).toBe(
      'The model replied without any text, because it was cut off before it wrote any (max_output_tokens). Raise max_output_tokens in the profile, or lower its reasoning_effort.',
    );
  });

  test('a missing profile of answer names one key', () => {
    expect(messageFor({ kind: 'no_profile', tool: 'answer' })).toBe(
      'The tool answer has no model, because the configuration removes the profile answer. Set model_profiles.answer.model, or MODEL_ANSWER, to a model ID.',
    );
  });

  test('a folder without recordings lists none', () => {
    const words = messageFor({ kind: 'not_recorded', offered: [], others: 0 });
    expect(words).toContain('There are no recordings.');
    expect(words).toContain('Remove --offline, or LLM_ADAPTER (llm.adapter), to ask the API');
    expect(words).not.toContain('one of these');
  });
});

test.each(Object.values(PINNED).filter(([{ kind }]) => kind !== 'cancelled' && kind !== 'invalid_arguments'))(
  '$kind: states what happened, then what to do',
  (error) => {
    const [advice] =
      / (?:Add|Ask|Change|Check|Copy|Do not|The API asks you|It may|Raise|Remove|Rephrase|Set|Try) .*$/s.exec(
        messageFor(error),
      ) ?? [];
    const rule =
      'a message ends with a sentence of advice; a new first word of such a sentence is added to the list in this test';
    expect(advice, rule).toMatch(/(?:\.|\n- .*)$/s);
    expect(messageFor(error), 'a message begins with a sentence that says what happened').toMatch(/^[A-Z].*[.)] /s);
  },
);

test('each argument that is invalid is shown as JSON, shortened if it is long', () => {
  const problems = [
    { argument: 'query', received: '😀'.repeat(500), accepted: 'a question' },
    { argument: 'domains', received: ['a', null], accepted: 'host names' },
  ];
  expect(messageFor({ kind: 'invalid_arguments', problems })).toBe(
    `query: got "${'😀'.repeat(39)}…, expected a question; domains: got ["a",null], expected host names`,
  );
});

test.each(['Why?', '停止しました。'])('%s keeps its punctuation', (detail) => {
  expect(messageFor({ kind: 'forbidden', detail })).toContain(`(403): ${detail} Check`);
});

test.each([
  [300_000, '300 s'],
  [90_000, '90 s'],
  [1500, '1.5 s'],
  [442, '0.4 s'],
  [0.4, '1 ms'],
  [3_600_000, '1 h'],
])('%f ms are %s', (ms, words) => {
  expect(duration(ms)).toBe(words);
});
