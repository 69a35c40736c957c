import { ok } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import type { OutgoingMessage } from '../../../../../src/adapters/inbound/mcp/json-rpc.ts';
import { answerToolList } from '../../../../../src/adapters/inbound/mcp/tool-schemas.ts';
import type { Answer } from '../../../../../src/application/tools/tool-call.ts';
import { UNFINISHED_INSTRUCTIONS } from '../../../../../src/domain/answers/unfinished-answer.ts';
import {
  ANSWER,
  answers,
  type ConfiguredAnswer,
  FakeApplication,
  hangs,
} from '../../../../support/fake-application.ts';
import { FakeClock, settled } from '../../../../support/fake-clock.ts';
import { deferred } from '../../../../support/fake-llm-search.ts';
import { MODERN, newSession, receive as receiveRaw, type SessionOptions } from '../../../../support/mcp-session.ts';
import { LOCAL } from '../../../../support/origins.ts';
import { RecordingLogger } from '../../../../support/recording-logger.ts';

function start(over: Partial<SessionOptions> = {}) {
  const session = newSession({ application: new FakeApplication(), ...over });
  const sent: OutgoingMessage[] = [];
  const receive = (message: unknown) => receiveRaw(session, message, (one) => sent.push(one));
  return { session, sent, receive };
}

/** The messages that are sent for messages received one after the other. */
async function sentFor(over: Partial<SessionOptions>, ...messages: readonly unknown[]) {
  const { sent, receive } = start(over);
  for (const message of messages) await receive(message);
  return sent;
}

const request = (method: string, params?: unknown, id: unknown = 1) => ({ jsonrpc: '2.0', id, method, params });
const call = (params: unknown = {}, id: unknown = 1) =>
  request('tools/call', { name: 'answer', arguments: { query: 'HTTP 404?' }, ...(params as object) }, id);
const cancelled = (requestId: unknown, reason?: unknown) => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId, reason },
});

// S12
test.each(['2025-06-18', '2026-07-28', undefined])('initialize returns 2025-06-18 to %s', async (protocolVersion) => {
  const [answer] = await sentFor({}, request('initialize', { protocolVersion, capabilities: {} }));
  expect(answer).toMatchObject({
    jsonrpc: '2.0',
    id: 1,
    result: {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'openai-responses-mcp', version: '1.2.3' },
    },
  });
});

test.for([
  ['initialize', {}],
  ['server/discover', MODERN],
] as const)('the instructions of %s end with another line only if there is one', async ([method, _meta]) => {
  const instructions = async (over: Partial<SessionOptions>) => {
    const [message] = await sentFor(over, request(method, { _meta }));
    return (message as { result?: { instructions?: string } }).result?.instructions;
  };
  const usual = await instructions({});
  expect(usual).toMatch(/pass the sources on to the user\.$/);
  expect(await instructions({ moreInstructions: UNFINISHED_INSTRUCTIONS })).toBe(
    `${usual}\nIf a result says that it is not finished, call the tool again as it says.`,
  );
});

test.each([undefined, { cursor: null }])('tools/list with params %j lists the tools', async (params) => {
  expect(await sentFor({}, request('tools/list', params))).toEqual([
    { jsonrpc: '2.0', id: 1, result: { tools: answerToolList(20_000) } },
  ]);
});

test('requests that come at once are answered in their order', () => {
  const { sent, receive } = start();
  const methods = ['initialize', 'tools/list', 'server/discover', 'ping'];
  methods.forEach((method, id) => void receive(request(method, {}, id)));
  expect(sent.map((message) => 'id' in message && message.id)).toEqual([0, 1, 2, 3]);
});

describe('the session rejects', () => {
  test.each([
    ['a value that is not a message', { id: 1, method: 'ping' }, -32600, 'Invalid Request: jsonrpc must be "2.0"'],
    ['an unknown method', request('resources/list'), -32601, 'Method not found: resources/list'],
    ['a call without a name', request('tools/call'), -32602, 'Invalid params: name must be a string'],
    ['arguments that are a list', call({ arguments: ['q'] }), -32602, 'Invalid params: arguments must be an object'],
    ['params that are a list', request('tools/call', ['answer']), -32602, 'Invalid params: params must be an object'],
  ])('%s', async (_, message, code, words) => {
    expect(await sentFor({}, message)).toEqual([{ jsonrpc: '2.0', id: 1, error: { code, message: words } }]);
  });

  test('an unknown tool, with the names of those that exist', async () => {
    const message = 'There is no tool "constructor". The tools are answer, answer_detailed, answer_quick.';
    const error = { code: -32601, message: 'Unknown tool', data: { message } };
    expect(await sentFor({}, call({ name: 'constructor' }))).toEqual([{ jsonrpc: '2.0', id: 1, error }]);
  });
});

describe('the session does not respond to', () => {
  test.each([
    ['a notification', { jsonrpc: '2.0', method: 'notifications/initialized' }],
    ['a call without an id, which is not run', { ...call(), id: undefined, method: 'tools/call' }],
    ['an unexpected result', { jsonrpc: '2.0', id: 1, result: {} }],
    ['a cancellation of an unknown id', cancelled(9)],
    ['a cancellation of an invalid id', cancelled(null)],
  ])('%s', async (_, message) => {
    const { sent, receive } = start();
    await receive(JSON.parse(JSON.stringify(message)));
    expect(sent).toEqual([]);
  });
});

describe('tools/call', () => {
  test('passes on what the client sent', async () => {
    const application = new FakeApplication(answers(), answers());
    await sentFor(
      { application },
      call({ name: 'answer_quick', arguments: { query: 'q', x: 1 } }),
      call({ arguments: null }, 'a'),
    );
    expect(application.asked).toMatchObject([
      { tool: 'answer_quick', args: { query: 'q', x: 1 }, by: LOCAL },
      { tool: 'answer', args: {}, by: LOCAL },
    ]);
  });

  test('sends the answers of two calls in the order in which they arrive', async () => {
    const slow = deferred<Answer>();
    const application = new FakeApplication(async () => ok(await slow.promise), answers());
    const { sent, receive } = start({ application });
    const first = receive(call({}, 1));
    await receive(call({}, 2));
    slow.settle(ANSWER);
    await first;
    expect(sent.map((message) => 'id' in message && message.id)).toEqual([2, 1]);
  });

  test('logs the length of the query, and nothing of its text', async () => {
    const logger = new RecordingLogger({ isDebug: true });
    await sentFor(
      { application: new FakeApplication(answers()), logger },
      call({ arguments: { query: 'a secret', domains: [] } }),
    );
    expect(logger.lines).toContain('debug server: tools/call name=answer argsKeys=["query","domains"] queryLen=8');
    expect(logger.lines.join('\n')).not.toContain('secret');
  });
});

describe('a bug', () => {
  test('in a call is an internal error, without a stack trace', async () => {
    const logger = new RecordingLogger();
    const application = new FakeApplication(async () => {
      throw new Error('secret detail');
    });
    expect(await sentFor({ application, logger }, call())).toEqual([
      { jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'Internal error' } },
    ]);
    expect(logger.lines).toEqual(['error internal error in tools/call: Error: secret detail']);
  });

  test.each([
    [new Error('secret detail'), 'Internal error'],
    [Object.assign(new Error('x'), { code: 'MODULE_NOT_FOUND' }), expect.stringContaining('Restart it')],
  ])('in a list is an error too: %o', async (bug, message) => {
    const logger = new RecordingLogger();
    const tools = {
      list: () => [],
      unknownTool: String,
      call: async () => 'unknown_tool' as const,
      cancel: () => {},
      prepare: () => Promise.reject(bug),
    };
    const { sent, receive } = start({ logger, tools });
    await receive(request('tools/list'));
    expect(sent).toEqual([{ jsonrpc: '2.0', id: 1, error: { code: -32603, message } }]);
    expect(logger.lines).toEqual([`error internal error in tools/list: ${bug}`]);
  });
});

// S18
describe('a cancelled call', () => {
  test('ends and gets no response, and is logged with its id and the reason only', async () => {
    const logger = new RecordingLogger({ isDebug: true });
    const { sent, receive } = start({ application: new FakeApplication(hangs), logger });
    const ended = receive(call({}, 0));
    const before = logger.lines.length;
    await receive(cancelled(0, 'the user left'));
    await ended;
    expect(sent).toEqual([]);
    expect(logger.lines.slice(before)).toEqual([
      'debug server: recv method=notifications/cancelled',
      'debug server: cancelled requestId=0 reason=the user left',
    ]);
  });

  test('gets no response if the application has already returned', async () => {
    const returned = deferred<Answer>();
    const application = new FakeApplication(async () => ok(await returned.promise));
    const { sent, receive } = start({ application });
    const ended = receive(call({}, 7));
    await settled();
    returned.settle(ANSWER);
    await receive(cancelled(7));
    await ended;
    expect(sent).toEqual([]);
  });

  test('is not the call whose id only looks the same', async () => {
    const slow = deferred<Answer>();
    const application = new FakeApplication(async () => ok(await slow.promise), hangs);
    const { sent, receive } = start({ application });
    const number = receive(call({}, 1));
    const text = receive(call({}, '1'));
    await settled();
    await receive(cancelled('1'));
    await text;
    slow.settle(ANSWER);
    await number;
    expect(sent).toMatchObject([{ id: 1, result: {} }]);
  });

  test('is not a call that was already answered, nor the next one with its id', async () => {
    const application = new FakeApplication(answers(), answers());
    const sent = await sentFor({ application }, call(), cancelled(1), call());
    expect(sent).toMatchObject([
      { id: 1, result: {} },
      { id: 1, result: {} },
    ]);
  });
});

// S15
test('an id that is still in flight is rejected for another request, and the first call continues', async () => {
  const slow = deferred<Answer>();
  const { sent, receive } = start({ application: new FakeApplication(async () => ok(await slow.promise)) });
  const first = receive(call());
  await receive(request('ping'));
  slow.settle(ANSWER);
  await first;
  expect(sent).toMatchObject([
    { id: 1, error: { code: -32600, message: 'Invalid Request: a request with id 1 is still in flight' } },
    { id: 1, result: { content: [{ type: 'text' }] } },
  ]);
});

describe('the end', () => {
  test('by close aborts the calls in flight and runs no more, and sends nothing for them', async () => {
    const application = new FakeApplication(hangs, hangs);
    const { session, sent, receive } = start({ application });
    const ended = [receive(call({}, 1)), receive(call({}, 2))];
    session.close();
    await Promise.all([...ended, receive(call({}, 3))]);
    expect(application.asked).toHaveLength(2);
    expect(application.cancelled).toHaveLength(2);
    expect(sent).toEqual([]);
  });

  test('by a bug answers the calls in flight, once', async () => {
    const slow = deferred<Answer>();
    const application = new FakeApplication(async () => ok(await slow.promise));
    const { session, sent, receive } = start({ application });
    const ended = receive(call());
    session.fail();
    session.fail();
    slow.settle(ANSWER);
    await ended;
    expect(sent).toEqual([{ jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'Internal error' } }]);
  });
});

describe('progress', () => {
  const progressing = (application: FakeApplication, params: object) => {
    const clock = new FakeClock();
    const started = start({ application, clock });
    return { ...started, clock, ended: started.receive(call(params)) };
  };
  const searches: ConfiguredAnswer = async ({ observer }) => {
    observer.onProgress({ kind: 'asking' });
    observer.onProgress({ kind: 'searching', query: 'tokyo weather' });
    return ok(ANSWER);
  };

  test('that is sent with the answer is sent 25 ms before it, since clients drop progress that they read with it', async () => {
    const { sent, clock, ended } = progressing(new FakeApplication(searches), { _meta: { progressToken: 0 } });
    const progress = [
      { params: { progressToken: 0, progress: 1, message: 'Asking the model' } },
      { params: { progressToken: 0, progress: 2, message: 'Searched: tokyo weather' } },
    ];
    await settled();
    await clock.advance(24);
    expect(sent).toMatchObject(progress);
    await clock.advance(1);
    await ended;
    expect(sent).toMatchObject([...progress, { id: 1, result: {} }]);
  });

  test.each([undefined, { progressToken: null }])('is not sent to a client whose _meta is %j', async (_meta) => {
    const { sent, clock, ended } = progressing(new FakeApplication(searches), { _meta });
    await ended;
    expect(sent).toHaveLength(1);
    expect(clock.slept).toEqual([]);
  });
});
