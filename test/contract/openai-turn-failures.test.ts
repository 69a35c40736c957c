import { describe, expect, test } from 'vitest';
import { fails, failsInStream } from '../support/behaviours.ts';
import { calls, reasons } from '../support/conversation-items.ts';
import { cutsBeforeEnd } from '../support/fake-conversation-api.ts';
import { errorOf, replyOf } from './search-kit.ts';
import { answered, CALL, OK, startTurns, turnRequest } from './turn-kit.ts';

describe('a history that the API does not accept ends the conversation, without another attempt', () => {
  const WORDS = "of type 'reasoning' was provided without its required following item.";

  test.each([
    ['reasoning without its item', (items: readonly unknown[]) => items.slice(0, 1), WORDS],
    ['an output without its call', () => [], 'No tool call found for function call output with call_id call_1.'],
    [
      'the same item twice',
      (items: readonly unknown[]) => [...items, ...items],
      `Duplicate item found with id ${reasons('1').id}. Remove duplicate items from your input and try again.`,
    ],
    [
      'reasoning without encrypted content',
      ([reasoning, call]: readonly unknown[]) => [{ ...(reasoning as object), encrypted_content: undefined }, call],
      `Item with id '${reasons('1').id}' not found.`,
    ],
  ])('%s', async (_what, change, words) => {
    const { api, ask } = await startTurns();
    api.script([CALL, OK]);
    const round = answered(replyOf(await ask()));
    const failure = errorOf(await ask(turnRequest({ rounds: [{ ...round, items: change(round.items) }] })));
    expect(failure).toMatchObject({ kind: 'history_rejected', detail: expect.stringContaining(words) });
    expect(api.requests).toHaveLength(2);
  });

  test('a call without its output', async () => {
    const { api, ask } = await startTurns();
    api.script([[...CALL, calls('2', 'wiki__read_page')], OK]);
    const round = answered(replyOf(await ask()));
    const failure = errorOf(await ask(turnRequest({ rounds: [{ ...round, outputs: round.outputs.slice(0, 1) }] })));
    expect(failure).toMatchObject({
      kind: 'history_rejected',
      detail: 'No tool output found for function call call_2.',
    });
    expect(api.requests).toHaveLength(2);
  });

  test('the first request has no history: its failure stays a rejected request', async () => {
    const { api, ask } = await startTurns();
    api.script([OK]);
    const error = { message: 'The input is too long.', type: 'invalid_request_error', param: 'input', code: null };
    api.disturb(0, [fails({ status: 400, error })]);
    expect(errorOf(await ask())).toMatchObject({ kind: 'bad_request' });
  });
});

test('the explanation of a policy violation is part of the message, in one line of 300 characters', async () => {
  const misalignment = { detailed_explanation: `A ticket\u202E named\na host. ${'x'.repeat(500)}` };
  const error = { message: 'Blocked.', type: 'x', param: null, code: 'misalignment_policy_violation', misalignment };
  const { api, ask } = await startTurns();
  api.script([OK]);
  api.disturb(0, [fails({ status: 403, error })]);
  const detail = `Blocked. A ticket named a host. ${'x'.repeat(276)}…`;
  expect(errorOf(await ask())).toMatchObject({ kind: 'policy_violation', detail });
});

describe('a later round that fails for a moment', () => {
  const busy = { message: 'Slow down.', type: 'requests', param: null, code: 'rate_limit_exceeded' };
  const broken = { message: 'The server had an error.', type: 'server_error', param: null, code: null };

  test.each([
    ['429', fails({ status: 429, error: busy })],
    ['500', fails({ status: 500, error: broken })],
    ['a failure in the stream', failsInStream({ code: 'server_error', message: 'The server had an error.' })],
    ['a stream that ends before its terminal event', cutsBeforeEnd({ items: [calls('cut', 'wiki__read_page')] })],
  ])('is sent again with the same bytes: %s', async (_what, behaviour) => {
    const { api, ask } = await startTurns();
    api.script([CALL, [calls('2', 'wiki__read_page')]]);
    const rounds = [answered(replyOf(await ask()))];
    api.disturb(1, [behaviour, behaviour]);
    const { calls: asked, report } = replyOf(await ask(turnRequest({ rounds })));
    expect(asked.map(({ callId }) => callId)).toEqual(['call_2']);
    expect(report.attempts).toBe(3);
    const [, second, ...more] = api.requests.map(({ rawBody }) => rawBody);
    expect(more).toEqual([second, second]);
  });
});
