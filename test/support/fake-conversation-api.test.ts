import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from './api-response.ts';
import { calls, reasons, says, searches } from './conversation-items.ts';
import { type ConversationApi, permitsSearch, roundOf, startConversationApi } from './fake-conversation-api.ts';

const api: ConversationApi = await startConversationApi();

beforeEach(() => {
  api.backEnd = {};
  api.script([[says('1', 'Hello.')], [says('2', 'Again.')]]);
});

afterAll(() => api.close());

const FUNCTION = { type: 'function', name: 'a', parameters: { type: 'object', properties: {} }, strict: false };
const WEB = { type: 'web_search' };
const QUESTION = { role: 'user', content: 'Why?' };
const OUTPUT = { type: 'function_call_output', call_id: 'call_1', output: 'ok' };

async function send(body: JsonObject): Promise<{ status: number; text: string }> {
  const response = await fetch(`${api.url}/responses`, { method: 'POST', body: JSON.stringify(body) });
  return { status: response.status, text: await response.text() };
}

const withFunction = (changes: object) => ({ tools: [WEB, { ...FUNCTION, ...changes }] });
const withChoice = (tool_choice: unknown, tools: unknown = [WEB, FUNCTION]) => ({ tools, tool_choice });
const allows = (...names: readonly string[]) => ({
  type: 'allowed_tools',
  mode: 'auto',
  tools: names.map((name) => ({ type: 'function', name })),
});
const withInput = (...items: readonly object[]) => ({ input: [QUESTION, ...items] });

test.each<[string, JsonObject, string, string | null]>([
  ['129 tools', { tools: Array.from({ length: 129 }, () => WEB) }, 'tools', 'array_above_max_length'],
  ['a name with a dot', withFunction({ name: 'a.b' }), 'tools[1].name', 'invalid_value'],
  ['a long name', withFunction({ name: 'a'.repeat(65) }), 'tools[1].name', 'string_above_max_length'],
  ['no strict', withFunction({ strict: null }), 'tools[1].strict', null],
  ['no type', withFunction({ parameters: { properties: {} } }), 'tools[1].parameters', 'invalid_function_parameters'],
  [
    'no properties',
    withFunction({ parameters: { type: 'object' } }),
    'tools[1].parameters',
    'invalid_function_parameters',
  ],
  [
    'oneOf',
    withFunction({ parameters: { type: 'object', properties: {}, oneOf: [] } }),
    'tools[1].parameters',
    'invalid_function_parameters',
  ],
  [
    'an array without items',
    withFunction({ parameters: { type: 'object', properties: { list: { type: 'array' } } } }),
    'tools[1].parameters',
    'invalid_function_parameters',
  ],
  ['another hosted tool', { tools: [{ type: 'web_search_preview' }] }, 'tools[0].type', 'invalid_value'],
  ['a choice without tools', withChoice('none', []), 'tool_choice', null],
  ['an unknown allowed tool', withChoice(allows('a', 'b')), 'tool_choice', null],
  ['no allowed tools', withChoice(allows()), 'tool_choice.tools', 'empty_array'],
  ['an unknown include', { include: ['everything'] }, 'include[0]', 'invalid_value'],
  ['a previous response', { previous_response_id: 'resp_1' }, 'previous_response_id', 'previous_response_not_found'],
  ['an output without call', withInput(OUTPUT), 'input', null],
  ['a call without output', withInput(calls('1', 'a')), 'input', null],
  ['reasoning at the end', withInput(reasons('1')), 'input', null],
  ['reasoning before an output', withInput(calls('1', 'a'), reasons('1'), OUTPUT), 'input', null],
  ['an item twice', withInput(says('1', 'x'), says('1', 'x')), 'input', null],
  ['sources', withInput(searches('1', 'q', ['https://a.example/'])), 'input[1].action.sources', 'unknown_parameter'],
  [
    'a long output',
    withInput(calls('1', 'a'), { ...OUTPUT, output: 'x'.repeat(10_485_761) }),
    'input[2].output',
    'string_above_max_length',
  ],
])('rejects %s', async (_what, body, param, code) => {
  const { status, text } = await send({ input: 'Why?', ...body });
  expect(status).toBe(400);
  expect(JSON.parse(text)).toEqual({
    error: { message: api.refusals.at(-1), type: 'invalid_request_error', param, code },
  });
});

test('rejects reasoning that was neither stored nor encrypted with a 404', async () => {
  const { encrypted_content: _, ...reasoning } = reasons('1');
  const body = withInput(reasoning, says('1', 'x'));
  expect(await send(body)).toMatchObject({ status: 404, text: expect.stringContaining('Items are not persisted') });
  expect(await send({ ...body, store: true })).toMatchObject({ status: 200 });
});

describe('a back end may refuse', () => {
  test.each([
    ['external_web_access', { refusesExternalWebAccess: true }, { tools: [{ ...WEB, external_web_access: false }] }],
    ['allowed_tools', { refusesAllowedTools: true }, withChoice(allows('a'))],
    ['encrypted content', { refusesEncryptedContent: true }, { include: ['reasoning.encrypted_content'] }],
    ['a function', { refusedFunctions: ['a'] }, { tools: [FUNCTION] }],
  ])('%s', async (_what, backEnd, body) => {
    expect(await send({ input: 'Why?', ...body })).toMatchObject({ status: 200 });
    api.backEnd = backEnd;
    expect(await send({ input: 'Why?', ...body })).toMatchObject({ status: 400 });
  });

  test('a search in the history that the tools do not declare', async () => {
    api.backEnd = { protectsSearches: true };
    const { action, ...search } = searches('1', 'q');
    const { sources: _, ...rest } = action;
    const body = withInput({ ...search, action: rest });
    expect(await send({ ...body, tools: [FUNCTION] })).toMatchObject({ text: expect.stringContaining('protection') });
    expect(await send({ ...body, tools: [WEB] })).toMatchObject({ text: expect.stringContaining('Hello.') });
  });
});

test('plays the round that follows the outputs in the request, as a stream or as JSON', async () => {
  api.script([[reasons('1'), calls('1', 'a')], { items: [says('2', 'Again.')], isJson: true }]);
  const first = await send({ input: 'Why?', include: ['reasoning.encrypted_content'] });
  expect(first.text).toMatch(/^event: response\.created\n/);
  expect(first.text).toContain('event: response.function_call_arguments.done');
  expect(first.text).toMatch(/event: response\.completed\ndata: .*\n\n$/);
  const second = await send(withInput(reasons('1'), calls('1', 'a'), OUTPUT));
  expect(JSON.parse(second.text)).toMatchObject({ status: 'completed', output: [says('2', 'Again.')] });
});

test('counts outputs that follow each other as one round', () => {
  expect(roundOf({ input: 'Why?' })).toBe(0);
  expect(roundOf(withInput(calls('1', 'a'), calls('2', 'a'), OUTPUT, { ...OUTPUT, call_id: 'call_2' }))).toBe(1);
  expect(roundOf(withInput(calls('1', 'a'), OUTPUT, calls('2', 'a'), OUTPUT))).toBe(2);
});

test('reports a script that searches where no search is permitted', async () => {
  api.script([[searches('1', 'q'), says('1', 'x')]]);
  const closed = { ...WEB, external_web_access: false };
  expect(await send({ input: 'Why?', tools: [WEB, FUNCTION] })).toMatchObject({ status: 200 });
  for (const body of [{ tools: [closed] }, { tools: [FUNCTION] }, withChoice('none'), withChoice(allows('a'))]) {
    expect(permitsSearch(body)).toBe(false);
    expect(await send({ input: 'Why?', ...body })).toMatchObject({
      status: 400,
      text: expect.stringContaining('script'),
    });
  }
});
