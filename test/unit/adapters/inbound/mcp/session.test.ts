import { err, ok } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import { answerToolList } from '../../../../../src/adapters/inbound/mcp/answer-schemas.ts';
import type { OutgoingMessage } from '../../../../../src/adapters/inbound/mcp/json-rpc.ts';
import type { Answer } from '../../../../../src/application/tools/answer.ts';
import { UNFINISHED_INSTRUCTIONS } from '../../../../../src/domain/answers/unfinished-answer.ts';
import {
  ANSWER,
  answers,
  type ConfiguredAnswer,
  FakeApplication,
  failsWith,
  hangs,
} from '../../../../support/fake-application.ts';
import { FakeClock, settled } from '../../../../support/fake-clock.ts';
import { deferred } from '../../../../support/fake-llm-search.ts';
import { newSession, receive as receiveRaw, type SessionOptions } from '../../../../support/mcp-session.ts';
import { LOCAL } from '../../../../support/origins.ts';
import { RecordingLogger } from '../../../../support/recording-logger.ts';

const TEXT = '{"answer":"Not Found.","used_search":false,"citations":[],"model":"gpt-5.2"}';

function start(over: Partial<SessionOptions> = {}) {
  const logger = new RecordingLogger();
  const session = newSession({ application: new FakeApplication(), logger, ...over });
  const sent: OutgoingMessage[] = [];
  const receive = (message: unknown) => receiveRaw(session, message, (one) => sent.push(one));
  return { session, sent, receive, logger };
}

/** The messages that are sent for messages received one after the other. */
async function sentFor(over: Partial<SessionOptions>, ...messages: readonly unknown[]) {
  const { sent, receive } = start(over);
  for (const message of messages) await receive(message);
  return sent;
}

const request = (method: string, params?: unknown, id: unknown = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  ...(params === undefined ? {} : { params }),
});
const call = (params: unknown = {}, id: unknown = 1) =>
  request('tools/call', { name: 'answer', arguments: { query: 'HTTP 404?' }, ...(params as object) }, id);
const cancelled = (requestId: unknown, reason?: unknown) => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId, ...(reason === undefined ? {} : { reason }) },
});

// S12
describe('initialize', () => {
  test.each(['2025-06-18', '2024-11-05', '2025-11-25', '2026-07-28', '1999-01-01', undefined])(
    'returns 2025-06-18 if %s was requested',
    async (protocolVersion) => {
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
    },
  );
});

test.for([
  ['initialize', {}],
  [
    'server/discover',
    {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  ],
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

test('ping gets an empty result', async () => {
  expect(await sentFor({}, request('ping', undefined, 'p'))).toEqual([{ jsonrpc: '2.0', id: 'p', result: {} }]);
});

describe('tools/list', () => {
  test.each([[undefined], [{}], [{ cursor: null }]])('with params %j lists the tools', async (params) => {
    expect(await sentFor({}, request('tools/list', params))).toEqual([
      { jsonrpc: '2.0', id: 1, result: { tools: answerToolList(20_000) } },
    ]);
  });

  test('has no cursors', async () => {
    expect(await sentFor({}, request('tools/list', { cursor: 'x' }))).toMatchObject([{ error: { code: -32602 } }]);
  });
});

describe('is rejected:', () => {
  test.each([
    ['an unknown method', request('resources/list'), -32601, 'Method not found: resources/list'],
    [
      'a cancellation as a request',
      request('notifications/cancelled', { requestId: 1 }),
      -32601,
      'Method not found: notifications/cancelled',
    ],
    ['a method named like a property of every object', request('toString'), -32601, 'Method not found: toString'],
    ['a tool whose name is not a string', call({ name: 7 }), -32602, 'Invalid params: name must be a string'],
    ['a call without a name', request('tools/call'), -32602, 'Invalid params: name must be a string'],
    ['arguments that are a list', call({ arguments: ['q'] }), -32602, 'Invalid params: arguments must be an object'],
    ['arguments that are a string', call({ arguments: 'q' }), -32602, 'Invalid params: arguments must be an object'],
    ['params that are a list', request('tools/call', ['answer']), -32602, 'Invalid params: params must be an object'],
  ])('%s', async (_, message, code, words) => {
    expect(await sentFor({}, message)).toEqual([{ jsonrpc: '2.0', id: 1, error: { code, message: words } }]);
  });

  test.each(['search', 'constructor'])('the unknown tool %j, with the names of those that exist', async (name) => {
    const message = `There is no tool "${name}". The tools are answer, answer_detailed, answer_quick.`;
    const error = { code: -32601, message: 'Unknown tool', data: { message } };
    expect(await sentFor({}, call({ name }))).toEqual([{ jsonrpc: '2.0', id: 1, error }]);
  });

  test('a value that is not a message, with its id if it has one', async () => {
    expect(await sentFor({}, { id: 7, method: 'ping' }, 'ping', [])).toEqual([
      { jsonrpc: '2.0', id: 7, error: { code: -32600, message: 'Invalid Request: jsonrpc must be "2.0"' } },
      { jsonrpc: '2.0', error: { code: -32600, message: 'Invalid Request: a message is a JSON object' } },
      {
        jsonrpc: '2.0',
        error: {
          code: -32600,
          message: 'Invalid Request: batches are not part of MCP: send one message at a time',
        },
      },
    ]);
  });
});

describe('gets no response:', () => {
  test.each([
    ['a notification', { jsonrpc: '2.0', method: 'notifications/initialized' }],
    ['an unknown notification', { jsonrpc: '2.0', method: 'notifications/whatever', params: [1] }],
    ['a call without an id, which is not run', { ...call(), id: undefined, method: 'tools/call' }],
    ['an unexpected result', { jsonrpc: '2.0', id: 1, result: {} }],
    ['an unexpected error', { jsonrpc: '2.0', id: 1, error: { code: 1, message: 'x' } }],
    ['a cancellation of an unknown id', cancelled(9)],
    ['a cancellation without an id', { jsonrpc: '2.0', method: 'notifications/cancelled' }],
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

describe('a call that fails', () => {
  const diagnostics = { status: 429, type: 'tokens', name: 'RateLimitError' };
  const error = { kind: 'quota_exhausted', detail: 'Out of money.', diagnostics } as const;
  const words =
    'The quota of the account is exhausted (429): Out of money. Check your plan and billing; waiting does not help.';

  test('is an error with its cause', async () => {
    expect(await sentFor({ application: new FakeApplication(failsWith(error)) }, call())).toEqual([
      { jsonrpc: '2.0', id: 1, error: { code: -32001, message: 'answer failed', data: { message: words } } },
    ]);
  });

  const problems = [{ argument: 'query', received: '', accepted: 'a string that holds a question' }];
  const badArguments = failsWith({ kind: 'invalid_arguments', problems });

  test('for its arguments names them', async () => {
    expect(await sentFor({ application: new FakeApplication(badArguments) }, call())).toEqual([
      {
        jsonrpc: '2.0',
        id: 1,
        error: {
          code: -32602,
          message: 'Invalid params',
          data: { message: 'query: got "", expected a string that holds a question' },
        },
      },
    ]);
  });

  test('because of a bug is an internal error, without a stack trace', async () => {
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
  ])('of a list because of %o is an error too', async (bug, message) => {
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

  test('because of a bug that is thrown synchronously frees its id', async () => {
    const sent = await sentFor({ application: new FakeApplication() }, call(), request('ping'));
    expect(sent).toMatchObject([{ error: { code: -32603 } }, { result: {} }]);
  });
});

// S18
describe('a cancelled call', () => {
  test.each([7, 0, 'a'])('with the id %j ends and gets no response', async (id) => {
    const application = new FakeApplication(hangs);
    const { sent, receive } = start({ application });
    const ended = receive(call({}, id));
    await expect.poll(() => application.asked).toHaveLength(1);
    await receive(cancelled(id, 'the user left'));
    await ended;
    expect(sent).toEqual([]);
  });

  test.each([
    ['an answer', ok(ANSWER)],
    ['a failure', err({ kind: 'content_filtered' } as const)],
  ])('gets no response if the application has already returned %s', async (_, outcome) => {
    const returned = deferred<typeof outcome>();
    const application = new FakeApplication(() => returned.promise);
    const { sent, receive } = start({ application });
    const ended = receive(call({}, 7));
    await expect.poll(() => application.asked).toHaveLength(1);
    returned.settle(outcome);
    await receive(cancelled(7));
    await ended;
    expect(sent).toEqual([]);
  });

  test('is logged with its id and the reason only', async () => {
    const logger = new RecordingLogger({ isDebug: true });
    const { receive } = start({ application: new FakeApplication(hangs), logger });
    void receive(call({}, 'abc'));
    const before = logger.lines.length;
    await receive(cancelled('abc', 'the user left'));
    expect(logger.lines.slice(before)).toEqual([
      'debug server: recv method=notifications/cancelled',
      'debug server: cancelled requestId=abc reason=the user left',
    ]);
  });

  test('is not the call whose id only looks the same', async () => {
    const slow = deferred<Answer>();
    const application = new FakeApplication(async () => ok(await slow.promise), hangs);
    const { sent, receive } = start({ application });
    const number = receive(call({}, 1));
    const text = receive(call({}, '1'));
    await expect.poll(() => application.asked).toHaveLength(2);
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
describe('an id that is still in flight', () => {
  test.each([
    ['a call', call()],
    ['a ping', request('ping')],
  ])('is rejected for %s, and the first call continues', async (_, second) => {
    const slow = deferred<Answer>();
    const application = new FakeApplication(async () => ok(await slow.promise));
    const { sent, receive } = start({ application });
    const first = receive(call());
    await receive(second);
    slow.settle(ANSWER);
    await first;
    expect(sent).toMatchObject([
      { id: 1, error: { code: -32600, message: 'Invalid Request: a request with id 1 is still in flight' } },
      { id: 1, result: { content: [{ text: TEXT }] } },
    ]);
  });
});

describe('the end', () => {
  test('by close aborts the calls in flight, and sends nothing for them', async () => {
    const application = new FakeApplication(hangs, hangs);
    const { session, sent, receive } = start({ application });
    const ended = [receive(call({}, 1)), receive(call({}, 2))];
    session.close();
    await Promise.all(ended);
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
  const reportsProgress: ConfiguredAnswer = async (input) => {
    input.observer.onProgress({ kind: 'asking' });
    return ok(ANSWER);
  };

  test.each([0, '', 'token', 7])('is sent for the token %j, before the answer', async (progressToken) => {
    const { sent, ended } = progressing(new FakeApplication(reportsProgress), { _meta: { progressToken } });
    await ended;
    expect(sent).toMatchObject([
      {
        method: 'notifications/progress',
        params: { progressToken, progress: 1, message: 'Asking the model' },
      },
      { id: 1, result: {} },
    ]);
  });

  test('that is sent with the answer is sent 25 ms before it, since clients drop progress that they read with it', async () => {
    const searches: ConfiguredAnswer = async ({ observer }) => {
      observer.onProgress({ kind: 'asking' });
      observer.onProgress({ kind: 'searching', query: 'tokyo weather' });
      return ok(ANSWER);
    };
    const { sent, clock, ended } = progressing(new FakeApplication(searches), { _meta: { progressToken: 1 } });
    const progress = [
      { params: { progress: 1, message: 'Asking the model' } },
      { params: { progress: 2, message: 'Searched: tokyo weather' } },
    ];
    await expect.poll(() => sent).toMatchObject(progress);
    await clock.advance(24);
    expect(sent).toMatchObject(progress);
    await clock.advance(1);
    await ended;
    expect(sent).toMatchObject([...progress, { id: 1, result: {} }]);
  });

  test.each([
    [undefined],
    [{}],
    [{ progressToken: null }],
    [{ progressToken: {} }],
    [{ progressToken: 'x'.repeat(257) }],
  ])('is not sent to a client whose _meta is %j', async (_meta) => {
    const { sent, ended } = progressing(new FakeApplication(reportsProgress), { _meta });
    await ended;
    expect(sent).toHaveLength(1);
  });

  test('is not sent for a cancelled call', async () => {
    const { sent, receive } = progressing(new FakeApplication(hangs), { _meta: { progressToken: 1 } });
    await receive(cancelled(1));
    await settled();
    expect(sent.filter((message) => 'method' in message)).toEqual([]);
  });
});
