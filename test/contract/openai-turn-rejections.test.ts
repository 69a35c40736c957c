import { describe, expect, test } from 'vitest';
import type { Round } from '../../src/application/ports/llm-search.ts';
import { fails } from '../support/behaviours.ts';
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

describe('a function that the API does not accept', () => {
  const BAD = offered('crm__bad', { type: 'object', properties: { list: { type: 'array' } } });
  const names = (body: { tools?: unknown } = {}) =>
    (body.tools as readonly { type: string; name?: string }[]).map(({ type, name }) => name ?? type);

  test('is omitted with one warning, now and later, and the others stay', async () => {
    const { api, logger, ask } = await startTurns();
    api.script([OK]);
    const functions = [BAD, SEARCH_ISSUES];
    expect(replyOf(await ask(turnRequest({ functions }))).report.attempts).toBe(2);
    replyOf(await ask(turnRequest({ functions })));
    expect(bodiesOf(api).map(names)).toEqual([
      ['web_search', 'crm__bad', 'jira__search_issues'],
      ['web_search', 'jira__search_issues'],
      ['web_search', 'jira__search_issues'],
    ]);
    expect(logger.lines).toEqual([
      'warn grounding: the API rejected the schema of crm__bad for gpt-5.2; the tool is no longer offered to this model',
    ]);
  });

  test('is offered to another model', async () => {
    const { api, ask } = await startTurns();
    api.script([OK]);
    const message = "Invalid schema for function 'crm__bad': no.";
    const error = { message, type: 'invalid_request_error', param: null, code: 'invalid_function_parameters' };
    api.disturb(0, [fails({ status: 400, error })]);
    const functions = [offered('crm__bad')];
    await ask(turnRequest({ functions }));
    await ask(turnRequest({ functions, asked: { profile: { model: 'gpt-5.2-mini' } } }));
    const [bad, none] = [['web_search', 'crm__bad'], ['web_search']];
    expect(bodiesOf(api).map(names)).toEqual([bad, none, bad]);
  });

  test('is also omitted from the allowed tools', async () => {
    const { api, ask } = await startTurns();
    api.script([OK]);
    replyOf(await ask(turnRequest({ functions: [BAD, SEARCH_ISSUES], web: 'closed' })));
    expect(bodiesOf(api)[1]?.tool_choice).toEqual({ ...ALLOWED, tools: [ALLOWED.tools[0]] });
  });

  test.each([
    ['by its index', 'tools[1].parameters', 'Something is wrong.'],
    ['by its index, in the old form', 'tools[1].function.parameters', 'Something is wrong.'],
    ['by its index, in the message only', null, "Invalid value for 'tools[1].parameters'."],
    ['by its name only', null, "Invalid schema for function 'crm__bad': In context=(), 'oneOf' is not permitted."],
  ])('%s', async (_how, param, message) => {
    const { api, ask } = await startTurns();
    api.script([OK]);
    const error = { message, type: 'invalid_request_error', param, code: 'invalid_function_parameters' };
    api.disturb(0, [fails({ status: 400, error })]);
    replyOf(await ask(turnRequest({ functions: [offered('crm__bad'), SEARCH_ISSUES] })));
    expect(bodiesOf(api).map(names)).toEqual([
      ['web_search', 'crm__bad', 'jira__search_issues'],
      ['web_search', 'jira__search_issues'],
    ]);
  });

  test('does not use up the retries, however many there are', async () => {
    const refusedFunctions = ['a__1', 'a__2', 'a__3', 'a__4', 'a__5'];
    const { api, ask } = await startTurns({ maxRetries: 0 }, { refusedFunctions });
    api.script([OK]);
    replyOf(await ask(turnRequest({ functions: [...refusedFunctions.map((name) => offered(name)), READ_PAGE] })));
    expect(names(bodiesOf(api).at(-1))).toEqual(['web_search', 'wiki__read_page']);
    expect(api.requests).toHaveLength(6);
  });

  test('leaves the retries for what fails afterwards', async () => {
    const { api, ask } = await startTurns({ maxRetries: 1 });
    api.script([OK]);
    const error = { message: 'The server had an error.', type: 'server_error', param: null, code: null };
    const schema = { message: "Invalid schema for function 'crm__bad': no.", type: 'x', param: null, code: null };
    api.disturb(0, [fails({ status: 400, error: schema }), fails({ status: 500, error })]);
    expect(replyOf(await ask(turnRequest({ functions: [BAD, READ_PAGE] }))).report.attempts).toBe(3);
  });

  test.each(['open', 'closed', 'absent'] as const)('the only one: the model answers without (web %s)', async (web) => {
    const { api, ask } = await startTurns({}, { refusedFunctions: ['crm__only'] });
    api.script([OK]);
    for (const mayCall of [true, false]) {
      replyOf(await ask(turnRequest({ functions: [offered('crm__only')], web, mayCall })));
    }
    expect(api.requests).toHaveLength(3);
    expect(api.refusals).toHaveLength(1);
    if (web === 'closed') expect(bodiesOf(api).at(-1)?.tool_choice).toBe('none');
  });

  test('too many functions are not omitted one by one', async () => {
    const { api, ask } = await startTurns();
    api.script([OK]);
    const functions = Array.from({ length: 128 }, (_, index) => offered(`many__${index}`));
    expect(errorOf(await ask(turnRequest({ functions })))).toMatchObject({ kind: 'bad_request' });
    expect(api.requests).toHaveLength(1);
  });
});

describe('reasoning.encrypted_content, if the model refuses it', () => {
  test('is dropped, now and later; the sources stay', async () => {
    const { api, logger, ask } = await startTurns({}, { refusesEncryptedContent: true });
    api.script([[calls('1', 'wiki__read_page')], OK]);
    const first = replyOf(await ask());
    replyOf(await ask(turnRequest({ rounds: [answered(first)] })));
    replyOf(await ask({ ...turnRequest(), profile: { model: 'gpt-5.1' } }));
    const sources = ['web_search_call.action.sources'];
    expect(bodiesOf(api).map(({ include }) => include)).toEqual([INCLUDE, sources, sources, INCLUDE, sources]);
    expect(logger.lines).toEqual([
      'warn openai(client): gpt-5.2 rejected include=reasoning.encrypted_content; it is omitted from now on',
      'warn openai(client): gpt-5.1 rejected include=reasoning.encrypted_content; it is omitted from now on',
    ]);
  });

  test('and include as a whole too: neither is sent again', async () => {
    const { api, ask } = await startTurns();
    api.script([OK]);
    const error = {
      message: "Unsupported parameter: 'include' is not supported with this model.",
      type: 'invalid_request_error',
      param: 'include',
      code: 'unsupported_parameter',
    };
    api.disturb(0, [fails({ status: 400, error }), fails({ status: 400, error })]);
    replyOf(await ask());
    replyOf(await ask());
    expect(bodiesOf(api).map(({ include }) => include)).toEqual([
      INCLUDE,
      ['web_search_call.action.sources'],
      undefined,
      undefined,
    ]);
  });
});

describe('the closed web', () => {
  const closed = (rounds: readonly Round[] = []) => turnRequest({ web: 'closed', rounds });
  const shape = ({ tools = [], tool_choice: choice }: { tools?: unknown; tool_choice?: unknown }) => [
    ...(tools as readonly { type: string; name?: string }[]).map(({ type, name }) => name ?? type),
    ...(choice === undefined ? [] : [choice]),
  ];
  const BOTH = ['web_search', 'jira__search_issues', 'wiki__read_page', ALLOWED];
  const NONE = ['jira__search_issues', 'wiki__read_page'];

  test.each([
    ['tool_choice', { refusesAllowedTools: true }],
    ['external_web_access', { refusesExternalWebAccess: true }],
  ])('if the API refuses %s, there is no search tool, now and later for that model', async (_what, backEnd) => {
    const { api, ask } = await startTurns({ maxRetries: 0 }, backEnd);
    api.script([OK]);
    replyOf(await ask(closed()));
    replyOf(await ask(closed()));
    replyOf(await ask({ ...closed(), profile: { model: 'gpt-5.1' } }));
    expect(bodiesOf(api).map(shape)).toEqual([BOTH, NONE, NONE, BOTH, NONE]);
    replyOf(await ask(turnRequest()));
    expect(shape(bodiesOf(api).at(-1) ?? {})).toEqual(['web_search', 'jira__search_issues', 'wiki__read_page']);
  });

  test('a refusal that names them only in its message counts', async () => {
    const { api, ask } = await startTurns();
    api.script([OK]);
    const error = { message: 'Argument not supported: tool_choice', type: 'bad', param: null, code: null };
    api.disturb(0, [fails({ status: 400, error })]);
    replyOf(await ask(closed()));
    expect(bodiesOf(api).map(shape)).toEqual([BOTH, NONE]);
  });

  test('in the last round, tool_choice stays none', async () => {
    const { api, ask } = await startTurns({}, { refusesExternalWebAccess: true });
    api.script([OK]);
    replyOf(await ask(turnRequest({ web: 'closed', mayCall: false })));
    expect(bodiesOf(api).map(shape)).toEqual([
      ['web_search', ...NONE, 'none'],
      [...NONE, 'none'],
    ]);
  });

  test.each([
    ['with a 400', { refusesExternalWebAccess: true }],
    ['in the stream', { refusesExternalWebAccess: true, protectsSearches: true }],
  ])('if the API also refuses a request without the tool %s, the answer fails and says why', async (_how, backEnd) => {
    const { api, ask } = await startTurns({ maxRetries: 0 }, backEnd);
    api.script([[reasons('1'), searches('1', 'q'), calls('1', 'wiki__read_page')], OK]);
    const first = replyOf(await ask());
    const error = {
      message: "Invalid value for 'tools': the history needs web_search.",
      type: 'invalid_request_error',
      param: 'tools',
      code: null,
    };
    const first400 = {
      message: "Unknown parameter: 'tools[0].external_web_access'.",
      type: 'invalid_request_error',
      param: 'tools[0].external_web_access',
      code: 'unknown_parameter',
    };
    if (!('protectsSearches' in backEnd)) {
      api.disturb(1, [fails({ status: 400, error: first400 }), fails({ status: 400, error })]);
    }
    const failure = errorOf(await ask(closed([answered(first)])));
    expect(failure).toMatchObject({
      kind: 'web_not_restricted',
      detail: expect.stringMatching(/web_search|protection/),
    });
    expect(api.requests).toHaveLength(3);
    for (const { body } of api.requests.slice(1))
      expect(JSON.stringify(body.tools)).not.toContain('{"type":"web_search"}');
  });

  test('another failure of a request without the tool is not blamed on the web', async () => {
    const { api, ask } = await startTurns({}, { refusesExternalWebAccess: true });
    api.script([CALL, OK]);
    const first = replyOf(await ask());
    replyOf(await ask(closed([answered(first)])));
    const history = answered({ ...first, items: first.items.slice(1) });
    const wrong = { ...history, outputs: [{ callId: 'call_other', output: { text: '', images: [] } }] };
    expect(errorOf(await ask(closed([wrong])))).toMatchObject({ kind: 'history_rejected' });
  });
});
