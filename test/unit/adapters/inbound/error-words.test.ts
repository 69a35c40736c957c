import { describe, expect, test } from 'vitest';
import { seconds, wordsFor } from '../../../../src/adapters/inbound/error-words.ts';
import type { AnswerError } from '../../../../src/domain/answer-error.ts';

type Kind = AnswerError['kind'];

/** One error of each kind; the compiler reports a kind that is missing here. */
const PINNED: { readonly [K in Kind]: readonly [Extract<AnswerError, { readonly kind: K }>, string] } = {
  invalid_arguments: [
    { kind: 'invalid_arguments', problems: [{ argument: 'query', received: undefined, accepted: 'a question' }] },
    'query: got nothing, expected a question',
  ],
  no_profile: [
    { kind: 'no_profile', tool: 'answer_quick' },
    'The tool answer_quick has no model: the configuration takes the profile answer away. Give model_profiles.answer.model or model_profiles.answer_quick.model a model id.',
  ],
  no_api_key: [
    { kind: 'no_api_key', variable: 'OPENAI_API_KEY' },
    "No API key: the environment variable OPENAI_API_KEY is not set. Set it (or OPENAI_API_KEY_FILE, the path of a file that holds it) in the MCP client's configuration of this server or in your shell, or start with --offline to try recorded answers.",
  ],
  malformed_api_key: [
    { kind: 'malformed_api_key', variable: 'OPENAI_API_KEY' },
    'The environment variable OPENAI_API_KEY holds characters that no API key has. Copy the key again, without blanks or line breaks.',
  ],
  rejected_api_key: [
    { kind: 'rejected_api_key', variable: 'MY_KEY' },
    'The API did not accept the key (401). Check the environment variable MY_KEY: the key may be mistyped, revoked, or of another organization or base URL.',
  ],
  forbidden: [
    { kind: 'forbidden', detail: 'Country not supported' },
    "The API refused access (403): Country not supported. Check the rights of the key's project, and whether your country and model are allowed.",
  ],
  model_not_found: [
    { kind: 'model_not_found', model: 'gpt-9', detail: 'No such model.' },
    "The model gpt-9 does not exist or this key may not use it: No such model. Change the profile's model (model_profiles, or MODEL_ANSWER).",
  ],
  bad_request: [
    { kind: 'bad_request', detail: 'Bad input.' },
    "The API refused the request: Bad input. Check the profile's model and the base URL in the configuration (--show-config).",
  ],
  rate_limited: [
    { kind: 'rate_limited', attempts: 4, retryAfterMs: 90_000, detail: 'Slow down.' },
    'The API is limiting the rate of requests (429) after 4 attempts: Slow down. It asks to wait 90 s; ask again then.',
  ],
  quota_exhausted: [
    { kind: 'quota_exhausted', detail: 'You exceeded your quota.' },
    "The account's quota is used up (429): You exceeded your quota. Check plan and billing; waiting does not help.",
  ],
  server_error: [
    { kind: 'server_error', attempts: 1, detail: 'HTTP status 503' },
    'The API failed after 1 attempt: HTTP status 503. Wait a little and ask again.',
  ],
  connection_failed: [
    { kind: 'connection_failed', attempts: 4, host: 'api.openai.com', detail: 'ECONNREFUSED' },
    'No whole answer came from api.openai.com after 4 attempts (ECONNREFUSED). Check the network, the proxy variables and the base URL, then try again.',
  ],
  content_filtered: [
    { kind: 'content_filtered' },
    "The API's content filter stopped the answer. Put the question differently.",
  ],
  failed: [
    { kind: 'failed', detail: 'server_error: it broke' },
    'The API could not finish the answer: server_error: it broke. Ask again; if it happens again, ask more simply or use another model.',
  ],
  unreadable_reply: [
    { kind: 'unreadable_reply', detail: 'HTML' },
    'The reply could not be read (HTML). Check that the base URL leads to a Responses API.',
  ],
  not_recorded: [
    { kind: 'not_recorded', recorded: ['What is MCP?', '東京の天気は？'] },
    'This question is not recorded, and the server is offline. Leave --offline (LLM_ADAPTER, llm.adapter) out to ask the API. Or ask what is recorded:\n- What is MCP?\n- 東京の天気は？',
  ],
  unreadable_recordings: [
    { kind: 'unreadable_recordings', path: '/no', detail: 'ENOENT' },
    'The recordings in /no cannot be read (ENOENT). Check the path given to --offline.',
  ],
  empty_answer: [
    { kind: 'empty_answer' },
    'The model replied without any text. Ask again, or put the question differently.',
  ],
  timed_out: [
    { kind: 'timed_out', timeoutMs: 300_000 },
    'No answer within 300 s. Ask something narrower, use answer_quick, or raise request.timeout_ms (OPENAI_API_TIMEOUT).',
  ],
  cancelled: [{ kind: 'cancelled' }, 'The question was cancelled.'],
};

describe('the message for', () => {
  test.each(Object.values(PINNED))('$kind', (error, words) => {
    expect(wordsFor(error)).toBe(words);
  });

  test('a key in a file names the file', () => {
    const variable = 'OPENAI_API_KEY_FILE';
    expect(wordsFor({ kind: 'malformed_api_key', variable })).toMatch(
      /^The file that OPENAI_API_KEY_FILE names holds characters/,
    );
    expect(wordsFor({ kind: 'rejected_api_key', variable })).toContain(
      'Check the file that OPENAI_API_KEY_FILE names: the key may be mistyped',
    );
  });

  test('text of the API contains no escape sequence', () => {
    expect(wordsFor({ kind: 'forbidden', detail: 'No\u001B[2J\u009B7m\u202E.' })).toMatch(
      /^The API refused access \(403\): No\. /,
    );
  });

  test('an incomplete answer without text names the key to raise', () => {
    expect(wordsFor({ kind: 'empty_answer', reason: 'max_output_tokens' })).toBe(
      'The model replied without any text: it was cut before it wrote (max_output_tokens). Raise max_output_tokens in the profile, or lower its reasoning_effort.',
    );
  });

  test('a missing profile of answer names one key', () => {
    expect(wordsFor({ kind: 'no_profile', tool: 'answer' })).toBe(
      'The tool answer has no model: the configuration takes the profile answer away. Give model_profiles.answer.model a model id.',
    );
  });

  test('a folder without recordings lists none', () => {
    const words = wordsFor({ kind: 'not_recorded', recorded: [] });
    expect(words).toContain('Nothing is recorded.');
    expect(words).toContain('Leave --offline (LLM_ADAPTER, llm.adapter) out to ask the API');
    expect(words).not.toContain('one of these');
  });
});

test.each(Object.values(PINNED))('$kind: contains nothing internal', (error) => {
  expect(wordsFor(error)).not.toMatch(/undefined|\[object|NaN|null|: \./);
});

test.each(Object.values(PINNED).filter(([{ kind }]) => kind !== 'cancelled' && kind !== 'invalid_arguments'))(
  '$kind: states what happened, then what to do',
  (error) => {
    expect(wordsFor(error)).toMatch(
      /^[A-Z].*[.).] (?:.* )?(?:Ask|Change|Check|Copy|Give|It asks|Leave|Put|Raise|Set|Wait) .*(?:\.|\n- .*)$/s,
    );
  },
);

describe('an argument that is invalid', () => {
  const words = (...received: readonly unknown[]) =>
    wordsFor({
      kind: 'invalid_arguments',
      problems: received.map((one, n) => ({ argument: `a${n}`, received: one, accepted: 'another' })),
    });

  test.each([
    ['text', 'text', '"text"'],
    ['a number', 7.5, '7.5'],
    ['a list', ['a', null], '["a",null]'],
    ['an object', { a: 1 }, '{"a":1}'],
    ['nothing', undefined, 'nothing'],
  ])('is shown: %s', (_, received, shown) => {
    expect(words(received)).toBe(`a0: got ${shown}, expected another`);
  });

  test('is shown with the others', () => {
    expect(words(1, 2)).toBe('a0: got 1, expected another; a1: got 2, expected another');
  });

  test('is shortened if it is long, between complete characters', () => {
    expect(words('😀'.repeat(500))).toBe(`a0: got "${'😀'.repeat(79)}…, expected another`);
  });
});

test.each(['Slow down!', 'Why?', '停止しました。', 'And so on…', 'Done.'])('%s keeps its punctuation', (detail) => {
  expect(wordsFor({ kind: 'forbidden', detail })).toContain(`(403): ${detail} Check`);
});

test.each([
  [300_000, '300 s'],
  [90_000, '90 s'],
  [1500, '1.5 s'],
])('%i ms are %s', (ms, words) => {
  expect(seconds(ms)).toBe(words);
});

test.each([1, 40, 49])('%i ms are not shown as 0 s', (ms) => {
  expect(seconds(ms)).not.toMatch(/^0/);
});
