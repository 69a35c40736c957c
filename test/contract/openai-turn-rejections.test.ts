import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../support/api-response.ts';
import { cutsStream, fails, failsInStream, responds } from '../support/behaviours.ts';
import { calls, reasons, searches } from '../support/conversation-items.ts';
import { errorOf, replyOf } from './search-kit.ts';
import {
  ALLOWED,
  answered,
  bodiesOf,
  CALL,
  INCLUDE,
  OK,
  offered,
  READ_PAGE,
  SEARCH_ISSUES,
  startTurns,
  turnRequest,
} from './turn-kit.ts';

const rejects = (param: string | null, message: string) => fails({ status: 400, error: { param, message } });

/** The names of the tools of a request, or their types, and the choice among them. */
function shapeOf({ tools = [], tool_choice: choice }: JsonObject = {}): readonly unknown[] {
  const names = (tools as readonly { type: string; name?: string }[]).map(({ type, name }) => name ?? type);
  return choice === undefined ? names : [...names, choice];
}

describe('a function that the API does not accept', () => {
  const BAD = offered('crm__bad');
  const [WITH, WITHOUT] = [
    ['web_search', 'crm__bad', 'jira__search_issues'],
    ['web_search', 'jira__search_issues'],
  ];

  test('is omitted with one warning, now and later, but not for another model, and the others stay', async () => {
    const { api, logger, ask } = await startTurns({}, { refusedFunctions: ['crm__bad'] });
    api.script([OK]);
    const request = turnRequest({ functions: [BAD, SEARCH_ISSUES] });
    expect(replyOf(await ask(request)).report.attempts).toBe(2);
    replyOf(await ask(request));
    expect(logger.lines).toEqual([
      'warn grounding: the API rejected the schema of crm__bad for gpt-5.2; the tool is no longer offered to this model',
    ]);
    replyOf(await ask({ ...request, profile: { model: 'gpt-5.1' } }));
    expect(bodiesOf(api).map(shapeOf)).toEqual([WITH, WITHOUT, WITHOUT, WITH, WITHOUT]);
  });

  test.each([
    ['its index', 'tools[1].parameters', 'Something is wrong.'],
    ['its index in the old form', 'tools[1].function.parameters', 'Something is wrong.'],
    ['its index in the message only', null, "Invalid value for 'tools[1].parameters'."],
    ['its name only', null, "Invalid schema for function 'crm__bad': In context=(), 'oneOf' is not permitted."],
  ])('is known by %s', async (_how, param, message) => {
    const { api, ask } = await startTurns();
    api.script([OK]);
    api.disturb(0, rejects(param, message));
    replyOf(await ask(turnRequest({ functions: [BAD, SEARCH_ISSUES] })));
    expect(bodiesOf(api).map(shapeOf)).toEqual([WITH, WITHOUT]);
  });

  test('uses up none of the retries, however many there are', async () => {
    const refusedFunctions = ['a__1', 'a__2', 'a__3'];
    const { api, ask } = await startTurns({ maxRetries: 1 }, { refusedFunctions });
    api.script([OK]);
    api.disturb(0, fails({ status: 500 }));
    const functions = [...refusedFunctions.map((name) => offered(name)), READ_PAGE];
    expect(replyOf(await ask(turnRequest({ functions }))).report.attempts).toBe(5);
    expect(shapeOf(bodiesOf(api).at(-1))).toEqual(['web_search', 'wiki__read_page']);
  });

  test.each([
    ['open', true, ['web_search']],
    ['absent', true, []],
    ['closed', true, ['web_search', 'none']],
    ['closed', false, ['web_search', 'none']],
  ] as const)('may be the only one: the model answers without (web %s, calls %s)', async (web, mayCall, shape) => {
    const { api, ask } = await startTurns({}, { refusedFunctions: ['crm__bad'] });
    api.script([OK]);
    replyOf(await ask(turnRequest({ functions: [BAD], web, mayCall })));
    expect(shapeOf(bodiesOf(api)[1])).toEqual(shape);
  });

  test('is also omitted from the allowed tools', async () => {
    const { api, ask } = await startTurns({}, { refusedFunctions: ['crm__bad'] });
    api.script([OK]);
    replyOf(await ask(turnRequest({ functions: [BAD, SEARCH_ISSUES], web: 'closed' })));
    expect(bodiesOf(api)[1]?.tool_choice).toEqual({ ...ALLOWED, tools: [ALLOWED.tools[0]] });
  });
});

describe('reasoning.encrypted_content, if the model refuses it', () => {
  const SOURCES = ['web_search_call.action.sources'];

  test('is dropped with a warning, now and later; the sources stay', async () => {
    const { api, logger, ask } = await startTurns({}, { refusesEncryptedContent: true });
    api.script([[calls('1', 'wiki__read_page')], OK]);
    const first = replyOf(await ask());
    replyOf(await ask(turnRequest({ rounds: [answered(first)] })));
    expect(bodiesOf(api).map(({ include }) => include)).toEqual([INCLUDE, SOURCES, SOURCES]);
    expect(logger.lines).toEqual([
      'warn openai(client): gpt-5.2 rejected include=reasoning.encrypted_content; it is omitted from now on',
    ]);
  });

  test('and include as a whole too: neither is sent again', async () => {
    const { api, ask } = await startTurns();
    api.script([OK]);
    const refused = rejects('include', "Unsupported parameter: 'include' is not supported with this model.");
    api.disturb(0, refused, refused);
    replyOf(await ask());
    replyOf(await ask());
    expect(bodiesOf(api).map(({ include }) => include)).toEqual([INCLUDE, SOURCES, undefined, undefined]);
  });
});

describe('the closed web', () => {
  const CLOSED = turnRequest({ web: 'closed' });
  const NONE = ['jira__search_issues', 'wiki__read_page'];
  const BOTH = ['web_search', ...NONE, ALLOWED];

  test.each([
    ['tool_choice', { refusesAllowedTools: true }],
    ['external_web_access', { refusesExternalWebAccess: true }],
  ])('if the API refuses %s, there is no search tool, now and later for that model', async (_what, backEnd) => {
    const { api, ask } = await startTurns({ maxRetries: 0 }, backEnd);
    api.script([OK]);
    replyOf(await ask(CLOSED));
    replyOf(await ask(CLOSED));
    replyOf(await ask({ ...CLOSED, profile: { model: 'gpt-5.1' } }));
    expect(bodiesOf(api).map(shapeOf)).toEqual([BOTH, NONE, NONE, BOTH, NONE]);
    replyOf(await ask(turnRequest()));
    expect(shapeOf(bodiesOf(api).at(-1))).toEqual(['web_search', ...NONE]);
  });

  test('a refusal that names them only in its message counts', async () => {
    const { api, ask } = await startTurns();
    api.script([OK]);
    api.disturb(0, rejects(null, 'Argument not supported: tool_choice'));
    replyOf(await ask(CLOSED));
    expect(bodiesOf(api).map(shapeOf)).toEqual([BOTH, NONE]);
  });

  test('in the last round, tool_choice stays none', async () => {
    const { api, ask } = await startTurns({}, { refusesExternalWebAccess: true });
    api.script([OK]);
    replyOf(await ask(turnRequest({ web: 'closed', mayCall: false })));
    expect(bodiesOf(api).map(shapeOf)).toEqual([
      ['web_search', ...NONE, 'none'],
      [...NONE, 'none'],
    ]);
  });

  test.each([
    ['with a 400', rejects('tools', "Invalid value for 'tools': the history needs web_search.")],
    ['in the stream', failsInStream({ code: 'internal_error', message: 'response protection is unavailable' })],
  ])('if the API also refuses a request without the tool %s, the answer fails and says why', async (_how, refusal) => {
    const { api, ask } = await startTurns({ maxRetries: 0 });
    api.script([[reasons('1'), searches('1', 'q'), calls('1', 'wiki__read_page')], OK]);
    const first = replyOf(await ask());
    api.disturb(1, rejects('tools[0].external_web_access', 'Unknown parameter.'), refusal);
    const failure = errorOf(await ask(turnRequest({ web: 'closed', rounds: [answered(first)] })));
    const detail = expect.stringMatching(/web_search|protection/);
    expect(failure).toMatchObject({ kind: 'web_not_restricted', detail });
    expect(bodiesOf(api).slice(1).map(shapeOf)).toEqual([BOTH, NONE]);
  });

  test('another failure of a request without the tool is not blamed on the web', async () => {
    const { api, ask } = await startTurns({ maxRetries: 0 });
    api.script([OK]);
    api.disturb(0, rejects(null, 'Argument not supported: tool_choice'), rejects('instructions', 'Too long.'));
    expect(errorOf(await ask(CLOSED))).toMatchObject({ kind: 'bad_request', detail: 'Too long.' });
  });
});

describe('a history that the API does not accept ends the conversation, without another attempt', () => {
  const [REASONING, FUNCTION_CALL] = CALL;

  test.each([
    ['reasoning without its item', [REASONING], 'was provided without its required following item.'],
    ['an output without its call', [], 'No tool call found for function call output with call_id call_1.'],
    ['the same item twice', [...CALL, ...CALL], `Duplicate item found with id ${REASONING.id}.`],
    ['reasoning without its content', [{ ...REASONING, encrypted_content: undefined }, FUNCTION_CALL], 'not found.'],
    ['a call without its output', [...CALL, calls('2', 'wiki__read_page')], 'No tool output found for function call'],
  ])('%s', async (_what, items, words) => {
    const { api, ask } = await startTurns();
    api.script([CALL, OK]);
    const round = answered(replyOf(await ask()));
    const failure = errorOf(await ask(turnRequest({ rounds: [{ ...round, items }] })));
    expect(failure).toMatchObject({ kind: 'history_rejected', detail: expect.stringContaining(words) });
    expect(api.requests).toHaveLength(2);
  });

  test('but the first request has no history: its failure stays a rejected request', async () => {
    const { api, ask } = await startTurns();
    api.script([OK]);
    api.disturb(0, rejects('input', 'The input is too long.'));
    expect(errorOf(await ask())).toMatchObject({ kind: 'bad_request' });
  });
});

test.each([
  ['429', fails({ status: 429 })],
  ['a failure in the stream', failsInStream({ code: 'server_error', message: 'Sorry.' })],
  // Everything was received, but nothing may be used.
  ['a stream without its last event', cutsStream(3, responds({ items: [calls('cut', 'wiki__read_page')] }))],
])('a later round is sent again with the same bytes after %s', async (_what, behaviour) => {
  const { api, ask } = await startTurns();
  api.script([CALL, [calls('2', 'wiki__read_page')]]);
  const rounds = [answered(replyOf(await ask()))];
  api.disturb(1, behaviour, behaviour);
  const { calls: asked, report } = replyOf(await ask(turnRequest({ rounds })));
  expect(asked.map(({ callId }) => callId)).toEqual(['call_2']);
  expect(report.attempts).toBe(3);
  const [, second, ...more] = api.requests.map(({ rawBody }) => rawBody);
  expect(more).toEqual([second, second]);
});
