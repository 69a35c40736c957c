import { expect, onTestFinished, test, vi } from 'vitest';
import { ResponseEvents } from '../../../../../src/adapters/outbound/openai/response-events.ts';
import { createRedactor } from '../../../../../src/domain/values/redaction.ts';

function events() {
  const context = { model: 'm', apiKeyVariable: 'KEY', route: 'api.test', attempt: 1, redactor: createRedactor() };
  const all = new ResponseEvents(context);
  return { all, take: (type: string, more: object) => all.take(type, JSON.stringify({ type, ...more })) };
}

test.each(['response.created', 'response.in_progress'])('the ID is read from %s if it comes first', (type) => {
  const { all, take } = events();
  take(type, { response: { id: 'resp_1' } });
  expect(all.id).toBe('resp_1');
});

test('the data of an event of which nothing is read is not parsed', () => {
  const { take } = events();
  take('response.created', { response: { id: 'resp_1' } });
  const parse = vi.spyOn(JSON, 'parse');
  onTestFinished(() => parse.mockRestore());
  take('response.in_progress', { response: { id: 'resp_1', instructions: 'Answer well.' } });
  take('response.output_text.done', { text: 'The complete text.' });
  expect(parse).not.toHaveBeenCalled();
  take('response.output_text.delta', { delta: 'The' });
  expect(parse).toHaveBeenCalledTimes(1);
});

// S40
test('what a server calls the text of its reasoning is no answer', () => {
  const { all, take } = events();
  const place = { output_index: 0, item_id: 'rs_1', content_index: 0 };
  take('response.content_part.done', { ...place, part: { type: 'reasoning_text', text: 'I call the tool.' } });
  take('response.output_text.delta', { ...place, delta: 'I call the tool.' });
  take('response.output_item.done', { output_index: 0, item: { type: 'reasoning', id: 'rs_1' } });
  take('response.completed', { response: { output: [] } });
  expect(all.outcome?._unsafeUnwrap().output).toEqual([{ type: 'reasoning', id: 'rs_1' }]);
});

const PLACE = { output_index: 1, item_id: 'msg_1', content_index: 0 };
const SEARCH = { type: 'web_search_call', id: 'ws_1', status: 'completed' };
const message = (text: string, annotations: readonly object[] = []) => ({
  type: 'message',
  id: 'msg_1',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations }],
});
const LINK = { type: 'url_citation', url: 'https://a.example/', title: 'A' };
const done = (item: object, output_index: number) => ['response.output_item.done', { output_index, item }] as const;
const delta = (text: string, place: object = PLACE) =>
  ['response.output_text.delta', { ...place, delta: text }] as const;
const annotated = ['response.output_text.annotation.added', { ...PLACE, annotation: LINK }] as const;
const completed = (...output: readonly object[]) => ['response.completed', { response: { output } }] as const;

type Step = readonly [type: string, more: object];

// S40
test.each<[what: string, steps: readonly Step[], texts: readonly string[], annotations?: readonly object[]]>([
  ['deltas', [delta('It is '), delta('5.'), completed()], ['It is 5.']],
  ['deltas without places', [delta('It is ', {}), delta('5.', {}), completed()], ['It is 5.']],
  ['deltas of items whose texts are empty', [delta('5.'), done(SEARCH, 0), done(message(''), 1), completed()], ['5.']],
  ['the end of a text', [['response.output_text.done', { ...PLACE, text: '5.' }], completed()], ['5.']],
  [
    'the end of a part',
    [['response.content_part.done', { ...PLACE, part: { type: 'output_text', text: '5.' } }], completed()],
    ['5.'],
  ],
  [
    'two parts',
    [delta('One. '), delta('Two.', { ...PLACE, output_index: 2, item_id: 'msg_2' }), completed()],
    ['One. ', 'Two.'],
  ],
  [
    'two parts of one message',
    [delta('One. '), delta('Two.', { ...PLACE, content_index: 1 }), completed()],
    ['One. ', 'Two.'],
  ],
  [
    'a second part that the item lacks',
    [delta('One. '), delta('Two.', { ...PLACE, content_index: 1 }), done(message('One. '), 1), completed()],
    ['One. ', 'Two.'],
  ],
  ['an item that has only its beginning', [delta('It is 5.'), done(message('It is'), 1), completed()], ['It is 5.']],
  ['an item with another text', [delta('It is 5【1†a】.'), done(message('It is 5.'), 1), completed()], ['It is 5.']],
  [
    'an item with another text and ID',
    [
      delta('It is 5 .', { ...PLACE, output_index: 0, item_id: 'x' }),
      done(SEARCH, 0),
      done(message('It is 5.'), 1),
      completed(),
    ],
    ['It is 5.'],
  ],
  ['items that have the text, too', [delta('It is 5.'), done(message('It is 5.'), 1), completed()], ['It is 5.']],
  ['items at other positions', [delta('It is 5.'), completed(message('It is 5.'))], ['It is 5.']],
  ['an annotation of its own event', [annotated, done(message('5.'), 1), completed()], ['5.'], [LINK]],
  ['an annotation that the item has, too', [annotated, done(message('5.', [LINK]), 1), completed()], ['5.'], [LINK]],
  [
    'the end of a part with an annotation',
    [
      delta('5.'),
      ['response.content_part.done', { ...PLACE, part: { type: 'output_text', text: '5.', annotations: [LINK] } }],
      completed(),
    ],
    ['5.'],
    [LINK],
  ],
  [
    'the end of a part with an annotation that the item lacks',
    [
      ['response.content_part.done', { ...PLACE, part: { type: 'output_text', text: '5.', annotations: [LINK] } }],
      done(message('5.'), 1),
      completed(message('5.')),
    ],
    ['5.'],
    [LINK],
  ],
  ['an annotation of a text in deltas', [delta('5.'), annotated, completed()], ['5.'], [LINK]],
])('a reply has what was streamed as %s', (_, steps, texts, annotations = []) => {
  const { all, take } = events();
  for (const [type, more] of steps) take(type, more);
  const output = all.outcome?._unsafeUnwrap().output as readonly {
    content?: readonly { text: string; annotations?: object[] }[];
  }[];
  const parts = output.flatMap(({ content = [] }) => content);
  expect(parts.map(({ text }) => text)).toEqual(texts);
  expect(parts.flatMap((part) => part.annotations ?? [])).toEqual(annotations);
});

// S40
test.each<[what: string, steps: readonly Step[]]>([
  ['positions that are all the same', [done(SEARCH, 0), done(message('5.'), 0)]],
  [
    'no positions, and an item that is complete twice',
    [SEARCH, message('5.'), message('5.')].map((item) => ['response.output_item.done', { item }] as const),
  ],
])('items with %s are each there once', (_, steps) => {
  const { all, take } = events();
  for (const [type, more] of [...steps, completed()]) take(type, more);
  expect(all.outcome?._unsafeUnwrap().output).toEqual([SEARCH, message('5.')]);
});

test('two parts of one message are not two messages', () => {
  const { all, take } = events();
  take(...delta('One. '));
  take(...delta('Two.', { ...PLACE, content_index: 1 }));
  take(...completed());
  expect(all.outcome?._unsafeUnwrap().output).toHaveLength(1);
});

test('a refusal of the model that only deltas have is one', () => {
  const { all, take } = events();
  take('response.refusal.delta', { ...PLACE, delta: 'No.' });
  take(...completed());
  const content = [{ type: 'refusal', refusal: 'No.' }];
  expect(all.outcome?._unsafeUnwrap().output).toMatchObject([{ content }]);
});

test('a stream that is done without a terminal event has the text so far', () => {
  const { all, take } = events();
  take(...delta('It is 5.'));
  all.take(undefined, '[DONE]');
  expect(all.outcome?._unsafeUnwrap()).toMatchObject({ status: 'completed', output: [{ type: 'message' }] });
});

test.each<[what: string, answered: boolean, steps: readonly Step[]]>([
  ['a complete message', true, [done(SEARCH, 0), done(message('5.'), 1)]],
  [
    'a message and an item that has begun',
    false,
    [done(message('5.'), 0), ['response.output_item.added', { output_index: 1 }]],
  ],
  ['a message before a search', false, [done(message('5.'), 0), done(SEARCH, 1)]],
  ['commentary', false, [done({ ...message('5.'), phase: 'commentary' }, 0)]],
  ['a part of a message', false, [delta('It is')]],
])('%s without a terminal event is an answer: %s', (_, answered, steps) => {
  const { all, take } = events();
  for (const step of steps) take(...step);
  expect(all.answered !== undefined).toBe(answered);
});

// S43
test.each<[name: string | undefined, data: string, kind: string]>([
  [undefined, '{"error":{"message":"Too long","code":400}}', 'bad_request'],
  [undefined, '{"error":"overloaded","code":503}', 'server_error'],
  [undefined, '{"object":"error","message":"x","type":"BadRequestError","code":400}', 'bad_request'],
  [undefined, '{"detail":"x","status":429}', 'rate_limited'],
  [undefined, '{"type":"overloaded_error","message":"x"}', 'server_error'],
  [undefined, '{"error":{"message":"x","code":502},"choices":[{"delta":{}}]}', 'server_error'],
  ['error', 'upstream failed', 'failed'],
  ['error', '{"message":"x","code":"429"}', 'rate_limited'],
  ['error', '{"type":"error","status":503,"error":{"message":"x"}}', 'server_error'],
])('the event %s with %s is a refusal', (name, data, kind) => {
  const { all } = events();
  all.take(name, data);
  expect(all.outcome?._unsafeUnwrapErr().error.kind).toBe(kind);
});

test('an error after response.failed says why it failed', () => {
  const { all, take } = events();
  take('response.failed', { response: { id: 'resp_1', error: null, usage: { input_tokens: 3 } } });
  expect(all.lacksReason).toBe(true);
  take('error', { code: 'rate_limit_exceeded', message: 'Try again in 5 s.' });
  expect(all.lacksReason).toBe(false);
  expect(all.outcome?._unsafeUnwrap()).toMatchObject({
    status: 'failed',
    usage: { input_tokens: 3 },
    error: [{ code: 'rate_limit_exceeded' }, null],
  });
});
