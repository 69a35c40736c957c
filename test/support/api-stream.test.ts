import { expect, test } from 'vitest';
import type { AnswerOptions } from './api-response.ts';
import { answerEvents, toSse, withUnknownEvents } from './api-stream.ts';

const SOURCES = { include: ['web_search_call.action.sources'] };

function events(text: string, options: AnswerOptions = {}, body = {}) {
  return answerEvents({ text, options }, { body, number: 1 });
}

test('streams an answer with a search in the order of the recordings', () => {
  const link = '([a.example](https://a.example/?utm_source=openai))';
  const citations = [{ url: 'https://a.example/?utm_source=openai', title: 'A' }];
  const types = events(`Yes. ${link}`, { citations, chunks: 2 }).map(({ type }) => type);
  expect(types).toEqual([
    'response.created',
    'response.in_progress',
    'response.output_item.added',
    'response.web_search_call.in_progress',
    'response.web_search_call.searching',
    'response.web_search_call.completed',
    'response.output_item.done',
    'response.output_item.added',
    'response.content_part.added',
    'response.output_text.delta',
    'response.output_text.delta',
    'response.output_text.annotation.added',
    'response.output_text.done',
    'response.content_part.done',
    'response.output_item.done',
    'response.completed',
  ]);
});

test('counts the indexes of a citation in code points, parentheses included', () => {
  const text = '🗻 富士山 ([b🙂](https://b.example)) and [c](https://c.example), https://d.example.';
  const citations = ['b', 'c', 'd', 'e'].map((name) => ({ url: `https://${name}.example`, title: name }));
  const stream = events(text, { citations, chunks: 7 });
  const added = stream.filter(({ type }) => type === 'response.output_text.annotation.added');
  const spans = citations.map((_, index) => {
    const { start_index, end_index } = Object(added[index]?.annotation);
    return [...text].slice(start_index, end_index).join('');
  });
  expect(spans).toEqual(['([b🙂](https://b.example))', '[c](https://c.example)', 'https://d.example', '']);
});

test('splits the text between code points without losing any', () => {
  const deltas = events('𠮷野家🍚!', { chunks: 99 }).flatMap(({ delta }) => (delta === undefined ? [] : [delta]));
  expect(deltas).toEqual(['𠮷', '野', '家', '🍚', '!']);
});

test('numbers all events, also those that are not in the spec', () => {
  const stream = withUnknownEvents(events('Hello'));
  expect(stream.map(({ sequence_number }) => sequence_number)).toEqual(stream.map((_, index) => index));
  expect(stream.at(-1)?.type).toBe('response.rate_limits.updated');
});

test('sends sources only if the request includes them', () => {
  const sources = [{ url: 'https://a.example' }, { name: 'oai-weather' }];
  const action = { type: 'search', query: 'rain', queries: ['rain'] };
  const output = (body: object) => Object(events('Rain.', { sources, search: 'rain' }, body).at(-1)?.response).output;
  expect(output({})[0].action).toEqual(action);
  expect(output(SOURCES)[0].action).toEqual({
    ...action,
    sources: [
      { type: 'url', url: 'https://a.example' },
      { type: 'api', name: 'oai-weather' },
    ],
  });
});

test('ends an incomplete answer with response.incomplete and the reason', () => {
  const last = events('Cut', { incomplete: 'max_output_tokens' }).at(-1);
  expect(last).toMatchObject({
    type: 'response.incomplete',
    response: {
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [{ type: 'message', status: 'incomplete' }],
    },
  });
  expect(events('', { incomplete: 'max_output_tokens' }).at(-1)).toMatchObject({ response: { output: [] } });
});

test('sends a refusal as refusal parts', () => {
  const stream = events('', { refusal: 'I cannot help.', chunks: 1 });
  expect(stream.find(({ type }) => type === 'response.refusal.delta')).toMatchObject({ delta: 'I cannot help.' });
  expect(stream.at(-1)).toMatchObject({
    response: { status: 'completed', output: [{ content: [{ type: 'refusal', refusal: 'I cannot help.' }] }] },
  });
});

test('sends a commentary before the final answer', () => {
  const last = events('42', { commentary: 'Let me look.' }).at(-1);
  expect(last).toMatchObject({ response: { output: [{ phase: 'commentary' }, { phase: 'final_answer' }] } });
});

test('names the model of the request, or the configured one', () => {
  expect(events('x', {}, { model: 'gpt-5' })[0]).toMatchObject({ response: { model: 'gpt-5' } });
  expect(events('x', { model: 'other' }, { model: 'gpt-5' })[0]).toMatchObject({ response: { model: 'other' } });
});

test('writes an event as two lines and a blank one', () => {
  expect(toSse({ type: 'ping' })).toBe('event: ping\ndata: {"type":"ping"}\n\n');
});
