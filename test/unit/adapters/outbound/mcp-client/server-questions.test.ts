import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { ServerQuestions } from '../../../../../src/adapters/outbound/mcp-client/server-questions.ts';
import type { AskedCaller } from '../../../../../src/application/ports/tool-server.ts';
import type { ElicitationAnswer } from '../../../../../src/domain/gateway/elicitation.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

const ACCEPT: ElicitationAnswer = { action: 'accept', content: {} };
const CANCEL: ElicitationAnswer = { action: 'cancel' };

/** The questions of a server, and its callers. `seen` has what the call of each person got. */
function start() {
  const clock = new FakeClock();
  const questions = new ServerQuestions('files', clock);
  const seen: unknown[] = [];
  const person = (caller: string, more: Partial<AskedCaller> = {}): AskedCaller => ({
    caller,
    declared: {},
    canBeAsked: () => true,
    ask: async ({ message }) => {
      seen.push([caller, message]);
      return ACCEPT;
    },
    onRefused: (why, request) => seen.push([caller, why, request]),
    onWaiting: () => {},
    onCompleted: () => {},
    ...more,
  });
  let count = 0;
  /** Resolves with the answer that the server gets. */
  const ask = (message = 'Sure?'): Promise<unknown> => {
    count += 1;
    const params = { message, requestedSchema: { type: 'object', properties: {} } };
    return new Promise((resolve) => {
      const respond = async (response: JSONRPCMessage) => resolve('result' in response && response.result);
      questions.receive({ jsonrpc: '2.0', id: count, method: 'elicitation/create', params }, respond);
    });
  };
  return { clock, questions, seen, person, ask };
}

test('the caller of another request is told that its server has asked, unless a call may have asked', async () => {
  const { questions, seen, person, ask } = start();
  const { onRefused } = person('alice');
  questions.begin(1, 'alice', { onRefused });
  expect(await ask()).toEqual(CANCEL);
  expect(seen).toEqual([['alice', 'nobody', expect.objectContaining({ method: 'elicitation/create' })]]);
  questions.begin(2, 'alice', person('alice'));
  expect(await ask()).toEqual(ACCEPT);
  questions.begin(3, 'bob', { onRefused: person('bob').onRefused });
  expect(await ask()).toEqual(CANCEL);
  expect(seen.slice(1)).toEqual([
    ['alice', 'Sure?'],
    ['alice', 'others', undefined],
  ]);
});

// S80
test('a question is not asked while another request of another person is in flight', async () => {
  const { questions, seen, person, ask } = start();
  questions.begin(1, 'bob', person('bob'));
  questions.begin(2, 'alice');
  expect(await ask()).toEqual(CANCEL);
  questions.end(2);
  expect(await ask()).toEqual(ACCEPT);
  expect(seen.at(-1)).toEqual(['bob', 'Sure?']);
});

test('a question is not asked while the server may go on with what another person has left', async () => {
  const { questions, seen, person, ask } = start();
  questions.begin(1, 'alice', person('alice'));
  questions.leave(1);
  questions.begin(2, 'bob', person('bob'));
  expect(await ask()).toEqual(CANCEL);
  // Bob may not read what the call of Alice wants to know.
  expect(seen).toEqual([['bob', 'others', undefined]]);
  questions.onResponse(1);
  expect(await ask()).toEqual(ACCEPT);
});

test('what a person has left is forgotten after ten minutes', async () => {
  const { clock, questions, person, ask } = start();
  questions.begin(1, 'alice', person('alice'));
  questions.leave(1);
  questions.begin(2, 'bob', person('bob'));
  await clock.advance(600_000 - 1);
  expect(await ask()).toEqual(CANCEL);
  await clock.advance(1);
  expect(await ask()).toEqual(ACCEPT);
});

test('what a person has left does not keep the same person from being asked', async () => {
  const { questions, person, ask } = start();
  questions.begin(1, 'alice', person('alice'));
  questions.leave(1);
  questions.begin(2, 'alice', person('alice'));
  expect(await ask()).toEqual(ACCEPT);
});

test('of several calls of one caller, one without an open question is asked', async () => {
  const { questions, seen, person, ask } = start();
  questions.begin(1, 'alice', person('alice', { ask: () => new Promise(() => {}) }));
  void ask('First?');
  questions.begin(2, 'alice', person('alice', { canBeAsked: () => false }));
  expect(await ask('Second?')).toEqual(CANCEL);
  expect(seen).toMatchObject([['alice', 'nobody', { params: { message: 'Second?' } }]]);
});

test('a call that asks two questions at once is asked both', async () => {
  const { questions, seen, person, ask } = start();
  questions.begin(1, 'alice', person('alice'));
  expect(await Promise.all([ask('First?'), ask('Second?')])).toEqual([ACCEPT, ACCEPT]);
  expect(seen).toHaveLength(2);
});
