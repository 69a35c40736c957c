import { expect, test } from 'vitest';
import { toSearchReply } from '../../../../../src/adapters/outbound/openai/search-reply.ts';
import type { JsonObject } from '../../../../../src/domain/values/json.ts';
import { createRedactor } from '../../../../../src/domain/values/redaction.ts';

const context = {
  model: 'gpt-5.2',
  apiKeyVariable: 'OPENAI_API_KEY',
  route: 'api.openai.com',
  attempt: 1,
  redactor: createRedactor(),
};
const call = { type: 'function_call', call_id: 'call_1', name: 'notes__search', arguments: '{}', status: 'completed' };

function message(url: string, phase?: string): JsonObject {
  const annotations = [{ type: 'url_citation', url, title: `Title of ${url}` }];
  return { type: 'message', phase, content: [{ type: 'output_text', text: url, annotations }] };
}

function citedIn(...output: readonly JsonObject[]): readonly string[] {
  const reply = toSearchReply({ status: 'completed', output }, context)._unsafeUnwrap();
  return reply.sources.cited.map(({ url, title }) => `${url} ${title}`);
}

test('every message before a call names sources of the answer, commentary too', () => {
  expect(citedIn(message('https://a.com', 'commentary'), message('https://b.com'), call)).toEqual([
    'https://a.com Title of https://a.com',
    'https://b.com Title of https://b.com',
  ]);
});

test('without a call, only the answer names sources', () => {
  expect(citedIn(message('https://a.com', 'commentary'), message('https://b.com', 'final_answer'))).toEqual([
    'https://b.com Title of https://b.com',
  ]);
});

test.each([
  ['without a type', { url_citation: { url: 'https://a.com', title: 'A' } }],
  ['of another type', { type: 'citation', url: 'https://a.com', title: 'A' }],
  [
    'whose own members are empty',
    { type: 'url_citation', url: '', url_citation: { url: 'https://a.com', title: 'A' } },
  ],
])('an annotation %s names a source if it has a URL', (_, annotation) => {
  const annotations = [annotation, { type: 'file_citation', file_id: 'file_1' }];
  const content = [{ type: 'output_text', text: 'It is 5.', annotations }];
  expect(citedIn({ type: 'message', content })).toEqual(['https://a.com A']);
});

test('the content of a message can be a text', () => {
  const reply = toSearchReply({ output: [{ type: 'message', content: 'It is 5.' }] }, context)._unsafeUnwrap();
  expect(reply.text).toBe('It is 5.');
});

test.each([undefined, null, {}, { input_tokens: null, output_tokens: 'many' }, { total_tokens: 7 }])(
  'a usage of %j is not known, so that its cost is not 0',
  (usage) => {
    const reply = toSearchReply({ output: [message('https://a.com')], usage }, context)._unsafeUnwrap();
    expect(reply.report.usage).toBeUndefined();
  },
);

const PART = { type: 'output_text', text: 'It is 5.' };
const LINK = { type: 'url_citation', url: 'https://a.com', title: 'A' };

// S40
test.each<[form: string, content: unknown]>([
  ['a list of texts', ['It is ', '5.']],
  ['one part', PART],
  ['a part of another type', [{ ...PART, type: 'text' }]],
])('the content of a message can be %s', (_, content) => {
  const reply = toSearchReply({ output: [{ type: 'message', content }] }, context)._unsafeUnwrap();
  expect(reply.text).toBe('It is 5.');
});

// S40
test.each<[where: string, message: JsonObject]>([
  ['in the message', { content: [PART], annotations: [LINK] }],
  ['alone, without a list', { content: [{ ...PART, annotations: LINK }] }],
])('annotations can be %s', (_, message) => {
  expect(citedIn({ type: 'message', ...message })).toEqual(['https://a.com A']);
});

// S40
test('an item without a type is a message if an assistant wrote it', () => {
  expect(toSearchReply({ output: [{ role: 'assistant', content: [PART] }] }, context)._unsafeUnwrap().text).toBe(
    'It is 5.',
  );
});

// S40
test.each<[what: string, response: JsonObject]>([
  ['a search with a prefix', { output: [{ type: 'openrouter:web_search', action: { sources: [LINK] } }] }],
  ['results of a search', { output: [{ type: 'web_search_call', results: [LINK] }] }],
  ['an item with results', { output: [{ type: 'search_results', queries: ['q'], results: [LINK] }] }],
  ['sources as texts', { output: [{ type: 'web_search_call', action: { sources: [LINK.url] } }] }],
  ['a list beside the items', { output: [], search_results: [LINK] }],
  ['a list of objects beside the items', { output: [], citations: [LINK] }],
])('%s names consulted pages', (_, { output = [], ...response }) => {
  const items = [...(output as readonly JsonObject[]), { type: 'message', content: [PART] }];
  const reply = toSearchReply({ ...response, output: items }, context)._unsafeUnwrap();
  expect(reply).toMatchObject({ searched: true, sources: { consulted: ['https://a.com'] } });
});

// S40
test.each<JsonObject>([
  { status: null },
  { status: '' },
  { status: 'COMPLETED' },
  { status: 'succeeded' },
  { error: {} },
  { error: [] },
  { error: { code: null, message: '' } },
])('an answer with %j is an answer', (members) => {
  const reply = toSearchReply({ output: [message('https://a.com')], ...members }, context)._unsafeUnwrap();
  expect(reply).toMatchObject({ text: 'https://a.com', ending: { kind: 'complete' } });
});

test.each(['queued', 'in_progress', 'requires_action'])('an answer with the status %s is not complete', (status) => {
  const { error } = toSearchReply({ output: [message('https://a.com')], status }, context)._unsafeUnwrapErr();
  expect(error).toMatchObject({ kind: 'failed', detail: `the API answered with status ${status}` });
});

test('a status of a server without an answer is named', () => {
  const { error } = toSearchReply({ output: [], status: 'expired' }, context)._unsafeUnwrapErr();
  expect(error).toMatchObject({ kind: 'failed', detail: 'the API answered with status expired' });
});

test('the words of an error that is only true are beside it', () => {
  const { error } = toSearchReply({ error: true, message: 'The tower is closed.' }, context)._unsafeUnwrapErr();
  expect(error).toMatchObject({ detail: 'The tower is closed.' });
});

test('a usage can have the names of Chat Completions', () => {
  const usage = { prompt_tokens: 9, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 4 } };
  const reply = toSearchReply({ output: [message('https://a.com')], usage }, context)._unsafeUnwrap();
  expect(reply.report.usage).toMatchObject({ inputTokens: 9, cachedTokens: 4, outputTokens: 5 });
});
