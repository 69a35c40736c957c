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
