import { ok } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import { toolErrorMessage } from '../../../../src/adapters/inbound/words/tool-error-messages.ts';
import { GroundedCalls } from '../../../../src/application/grounded/grounded-calls.ts';
import type { FunctionCall, SearchProgress, ToolCallSummary } from '../../../../src/application/ports/llm-search.ts';
import type { ToolCallError } from '../../../../src/domain/gateway/tool-call-error.ts';
import { createRedactor } from '../../../../src/domain/values/redaction.ts';
import { expectNoListener } from '../../../contract/search-kit.ts';
import { never } from '../../../support/core.ts';
import {
  type ConfiguredCall,
  callFails,
  FakeAnswerGateway,
  reports,
  result,
  returns,
  text,
} from '../../../support/fake-answer-gateway.ts';
import { FakeClock, settled } from '../../../support/fake-clock.ts';
import { calls, deferred } from '../../../support/fake-llm-search.ts';
import { tool } from '../../../support/grounding.ts';
import { LOCAL } from '../../../support/origins.ts';
import { redactorOf } from '../../../support/redactor.ts';

interface Over {
  readonly replies?: Readonly<Record<string, ConfiguredCall>>;
  readonly publicServers?: readonly string[];
  readonly deadlineMs?: number;
  readonly options?: Partial<ConstructorParameters<typeof GroundedCalls>[0]>;
}

function start({ replies = {}, publicServers = [], deadlineMs = 300_000, options }: Over = {}) {
  const clock = new FakeClock();
  const gateway = new FakeAnswerGateway({ replies, publicServers });
  const progress: SearchProgress[] = [];
  const summaries: ToolCallSummary[] = [];
  const functions = ['get', 'search', 'find'].map((name) => {
    return { name: `jira__${name}`, description: '', parameters: {}, tool: tool(`jira/${name}`) };
  });
  const grounded = new GroundedCalls({
    functions,
    answerGateway: gateway,
    clock,
    observer: {
      onProgress: (step) => void progress.push(step),
      onUsed: ({ toolCalls = [] }) => void summaries.push(...toolCalls),
    },
    maxCalls: 20,
    maxOutputChars: 20_000,
    request: { by: LOCAL, deadlineMs },
    messageFor: toolErrorMessage,
    redactor: createRedactor(),
    ...options,
  });
  const run = async (...calls: readonly FunctionCall[]) => {
    const outputs = await grounded.run(calls, never());
    if (outputs === 'aborted') throw new Error('nothing was aborted');
    return outputs.map(({ callId, output }) => ({ callId, text: output.text, images: output.images }));
  };
  return { grounded, run, gateway, clock, progress, summaries };
}

const get = (id: number, args: object | string = { id }) => calls('jira__get', args, { callId: `call_${id}` });
/** The body of an output, without its origin and sources. */
const body = ({ text = '' }: { readonly text?: string } = {}) => text.split('\n\n').slice(1).join('\n\n');

describe('the calls of a response', () => {
  test('have one output each, in the order of the calls, however long they take', async () => {
    const settle: (() => void)[] = [];
    const waits: ConfiguredCall = ({ id }) =>
      new Promise((resolve) => settle.push(() => resolve(ok(text(`issue ${id}`)))));
    const { run, gateway } = start({ replies: { get: waits } });
    const outputs = run(...[1, 2, 3, 4, 5, 6].map((id) => get(id)));
    await settled();
    expect(gateway.called).toHaveLength(4);
    while (settle.length > 0) {
      settle.pop()?.();
      await settled();
    }
    expect((await outputs).map((output) => [output.callId, body(output)])).toEqual(
      [1, 2, 3, 4, 5, 6].map((id) => [`call_${id}`, `issue ${id}`]),
    );
    expect(gateway.maxRunning).toBe(4);
  });

  test('that were cut off are never run', async () => {
    const { run, gateway } = start();
    expect(await run(calls('jira__get', '{}', { isIncomplete: true }))).toMatchObject([
      { callId: 'call_jira__get', text: 'error: the call was cut off' },
    ]);
    expect(gateway.called).toEqual([]);
  });

  test('with the same ID run once, and have one output', async () => {
    const { run, gateway } = start();
    expect((await run(get(1), get(2), get(1))).map(({ callId }) => callId)).toEqual(['call_1', 'call_2']);
    expect(gateway.called).toHaveLength(2);
  });

  test('with an ID of an earlier response run: some servers count from 0 in each response', async () => {
    const { run, gateway } = start();
    await run(get(1));
    await run(get(1));
    expect(gateway.called).toHaveLength(2);
  });

  test('have images of at most 8 MiB together in an answer, also in calls at the same time and in later rounds', async () => {
    const data = 'A'.repeat(4 * 1024 * 1024);
    const chart = result({ content: [{ type: 'image', data, mimeType: 'image/png' }] });
    const { run } = start({ replies: { get: returns(chart) } });
    const outputs = [...(await run(get(1), get(2))), ...(await run(get(3), get(4)))];
    expect(outputs.map(({ images }) => images.length)).toEqual([1, 1, 0, 0]);
    expect(body(outputs[3])).toBe('[image image/png]');
  });

  test('whose addresses contain a secret of a server have the call as their source', async () => {
    const links = ['https://example.com/hunter2-hunter2/a', 'https://example.com/b'];
    const content = links.map((uri) => ({ type: 'resource_link', uri, name: 'issue' }));
    const redactor = redactorOf('hunter2-hunter2');
    const { run, grounded } = start({ replies: { get: returns(result({ content })) }, options: { redactor } });
    const [output] = await run(get(1));
    expect(output?.text).not.toContain('hunter2');
    expect(grounded.sources.map(({ url }) => url)).toEqual(
      expect.arrayContaining(['jira/get', 'https://example.com/b']),
    );
    expect(JSON.stringify(grounded.sources)).not.toMatch(/hunter2|example\.com\/\[redacted/);
  });
});

describe('`parallel`', () => {
  const use = (name: unknown, parameters: unknown = {}) => ({ recipient_name: name, parameters });
  const parallel = (uses: unknown) => calls('parallel', { tool_uses: uses });

  test('is expanded to one output, in its order', async () => {
    const { run, gateway, summaries } = start({
      replies: { get: returns(text('one')), find: returns(text('two')) },
    });
    const [output, ...others] = await run(parallel([use('functions.jira__get', { id: 1 }), use('jira__find')]));
    expect(others).toEqual([]);
    expect(output?.callId).toBe('call_parallel');
    expect(output?.text).toMatch(
      /^\[Output of the tool jira\/get\..*\n.*\n\none\n\n\[Output of the tool jira\/find\..*\n.*\n\ntwo$/,
    );
    expect(gateway.called.map(({ tool }) => tool)).toEqual(['jira/get', 'jira/find']);
    expect(summaries).toHaveLength(2);
  });

  test.each([
    ['a recipient that is not offered', [use('functions.jira__get'), use('functions.jira__delete')]],
    ['no parameters', [use('functions.jira__get', 5)]],
    ['an entry that is no use', [use('functions.jira__get'), 5]],
  ])('with %s is an unknown function', async (_, uses) => {
    const { run, gateway } = start();
    const [output] = await run(parallel(uses));
    expect(output?.text).toBe('error: there is no function parallel');
    expect(gateway.called).toEqual([]);
  });
});

describe('what is not a call', () => {
  test.each(['{"id": 1', '[1]'])('arguments that are not an object: %s', async (args) => {
    const { run, gateway, progress, summaries } = start();
    expect((await run(get(1, args)))[0]?.text).toBe('error: the arguments are not a JSON object');
    expect([gateway.called, summaries, progress]).toEqual([[], [], []]);
  });

  test('a function that does not exist, whatever its name contains', async () => {
    const { run } = start();
    expect((await run(calls('jira__delete')))[0]?.text).toBe('error: there is no function jira__delete');
    expect((await run(calls('a\n\u202Eb', {}, { callId: '2' })))[0]?.text).toBe('error: there is no function a b');
  });

  test('arguments that do not match the schema: the model gets the place, and the call does not count', async () => {
    const errors = [{ path: '/items/0/name', message: 'must be string' }];
    const { run, grounded, summaries } = start({
      replies: { get: callFails({ kind: 'invalid_input', errors }) },
      options: { maxCalls: 1 },
    });
    expect((await run(get(1)))[0]?.text).toBe(
      "error: The input does not match the tool's schema: /items/0/name must be string.",
    );
    expect([grounded.limit, grounded.hasPrivateOutput]).toEqual([undefined, false]);
    expect(summaries).toEqual([]);
  });
});

describe('a tool that fails', () => {
  const textOf = async (reply: ConfiguredCall, options: Over['options'] = {}) =>
    (await start({ replies: { get: reply }, options }).run(get(1)))[0]?.text;

  test.each<[string, ConfiguredCall, string]>([
    ['reports an error', reports('No such issue\n  at f (/srv/a.js:1:2)'), 'error: No such issue'],
    ['reports an error without a text', reports(''), 'error: the tool failed'],
    [
      'answers with a JSON-RPC error',
      callFails({ kind: 'json_rpc', code: -32603, message: 'cannot read /srv/data/a.db' }),
      'error: cannot read /srv/data/a.db',
    ],
    [
      'is gone: the names of tools that are not offered are not sent',
      callFails({ kind: 'unknown_tool', server: 'jira', tool: 'get', known: ['delete_everything'] }),
      'error: the tool is no longer available',
    ],
    [
      'has no server any more',
      callFails({ kind: 'unknown_server', server: 'jira', known: ['payroll'] }),
      'error: the tool is no longer available',
    ],
    [
      'has a server that was lost: what it wrote last is not sent',
      callFails({ kind: 'not_available', server: 'jira', state: 'failed', reason: 'PRIVATE' }),
      'error: The server jira is not available (it failed and is not started again). When that is mended, start it again (POST /mcp/servers/jira/restart).',
    ],
    [
      'has a server that requires a login: the words of the issuer are not sent',
      callFails({ kind: 'login_required', server: 'jira', reason: 'PRIVATE' }),
      "error: The server jira requires a login. Sign in on the gateway's machine with: openai-responses-mcp login jira",
    ],
  ])('%s: the model gets one line', async (_, reply, expected) => {
    expect(await textOf(reply)).toBe(expected);
  });

  test('shows no part of a secret where its line is cut', async () => {
    const redactor = redactorOf('hunter2-hunter2-hunter2');
    const text = await textOf(reports(`${'x'.repeat(290)}hunter2-hunter2-hunter2`), { redactor });
    expect(text).toBe(`error: ${'x'.repeat(290)}[redacted]`);
  });

  // S73
  test('is not a source, and is not called again', async () => {
    const { run, grounded, gateway } = start({ replies: { get: reports('no') } });
    await run(get(1));
    expect(grounded.sources).toEqual([]);
    expect(gateway.called).toHaveLength(1);
  });
});

describe('what is private', () => {
  const isPrivate = async (reply: ConfiguredCall, publicServers: readonly string[] = []) => {
    const { run, grounded } = start({ replies: { get: reply }, publicServers });
    expect(grounded.hasPrivateOutput).toBe(false);
    await run(get(1));
    return grounded.hasPrivateOutput;
  };
  const ERRORS: readonly (readonly [ToolCallError, boolean])[] = [
    [{ kind: 'json_rpc', code: 1, message: 'x' }, true],
    [{ kind: 'timed_out', timeoutMs: 1 }, true],
    [{ kind: 'unauthorized', server: 'notes', status: 401 }, true],
    [{ kind: 'invalid_input', errors: [] }, false],
    [{ kind: 'unknown_tool', server: 'jira', tool: 'get', known: [] }, false],
    [{ kind: 'unknown_server', server: 'jira', known: [] }, false],
    [{ kind: 'not_available', server: 'jira', state: 'failed' }, false],
    [{ kind: 'login_required', server: 'jira' }, false],
    [{ kind: 'overloaded', server: 'jira', maxConcurrency: 1 }, false],
    [{ kind: 'shutting_down' }, false],
  ];

  test('is an answer, and an error that the tool reports', async () => {
    expect(await isPrivate(returns(text('x')))).toBe(true);
    expect(await isPrivate(reports('x'))).toBe(true);
  });

  test.each(ERRORS)('is what a call may have returned that failed, if it was sent: %j', async (error, expected) => {
    expect(await isPrivate(callFails(error))).toBe(expected);
  });

  test('is not what a public server returns', async () => {
    expect(await isPrivate(returns(text('x')), ['jira'])).toBe(false);
    expect(await isPrivate(reports('x'), ['wiki'])).toBe(true);
  });

  test('is also what a server returned that is no longer public, and what one returned that has become public', async () => {
    const publicServers = ['jira'];
    const { run, grounded } = start({ publicServers });
    await run(get(1));
    expect(grounded.hasPrivateOutput).toBe(false);
    publicServers.pop();
    expect(grounded.hasPrivateOutput).toBe(true);
    await run(get(2));
    publicServers.push('jira');
    expect(grounded.hasPrivateOutput).toBe(true);
  });
});

describe('the time of a call', () => {
  test('is what remains, less 15 s', async () => {
    const { run, gateway, clock } = start({ deadlineMs: 100_000 });
    await run(get(1));
    await clock.advance(50_000);
    await run(get(2));
    expect(gateway.called.map(({ timeoutMs }) => timeoutMs)).toEqual([85_000, 35_000]);
  });
});

describe('a cancellation', () => {
  test.each([
    ['hangs', false],
    ['answers too late', true],
  ])('ends everything at once, even if a tool %s: no other call starts, and nothing is reported', async (_, isLate) => {
    const late = deferred<Awaited<ReturnType<ConfiguredCall>>>();
    const signals: AbortSignal[] = [];
    const waits: ConfiguredCall = (_args, signal) => {
      signals.push(signal);
      return late.promise;
    };
    const { grounded, gateway, progress, summaries } = start({ replies: { get: waits } });
    const controller = new AbortController();
    const outcome = grounded.run(
      [1, 2, 3, 4, 5, 6].map((id) => get(id)),
      controller.signal,
    );
    await settled();
    controller.abort();
    if (isLate) late.settle(ok(text('x')));
    expect(await outcome).toBe('aborted');
    await settled();
    expect(gateway.called).toHaveLength(4);
    expect(signals.every(({ aborted }) => aborted)).toBe(true);
    expect(progress.map(({ kind }) => kind)).toEqual(Array(4).fill('calling'));
    expect(summaries).toEqual([]);
    expectNoListener(controller.signal);
  });
});

describe('progress and report', () => {
  test('name each call, its time, and its size or the reason of its failure', async () => {
    const clock = new FakeClock();
    const slow: ConfiguredCall = async () => {
      await clock.advance(1500);
      return ok(text('x'));
    };
    const { run, progress, summaries } = start({
      replies: { get: slow, find: reports('no'), search: callFails({ kind: 'crashed', reason: 'x' }) },
      options: { clock },
    });
    const [output] = await run(get(1));
    await run(calls('jira__find'), calls('jira__search'));
    const characters = output?.text.length;
    expect(progress).toMatchObject([
      { kind: 'calling', server: 'jira', tool: 'get' },
      { kind: 'called', server: 'jira', tool: 'get', ms: 1500, characters, reason: undefined },
      { kind: 'calling', server: 'jira', tool: 'find' },
      { kind: 'calling', server: 'jira', tool: 'search' },
      { kind: 'called', server: 'jira', tool: 'find', ms: 0, reason: 'tool_error' },
      { kind: 'called', server: 'jira', tool: 'search', ms: 0, reason: 'crashed' },
    ]);
    expect(summaries).toEqual([
      { server: 'jira', tool: 'get', ms: 1500, ok: true },
      { server: 'jira', tool: 'find', ms: 0, ok: false },
      { server: 'jira', tool: 'search', ms: 0, ok: false },
    ]);
  });

  // S75
  test('contain no arguments and no results', async () => {
    const { run, progress, summaries } = start({
      replies: { get: returns(text('PRIVATE')), find: reports('PRIVATE') },
    });
    await run(get(1, { query: 'PRIVATE' }), calls('jira__find', { query: 'PRIVATE' }));
    expect(JSON.stringify([progress, summaries])).not.toContain('PRIVATE');
  });
});
