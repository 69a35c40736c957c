import { err, ok } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import { continuesCall, takeOpen } from '../../../../src/adapters/inbound/mcp/retries.ts';
import { OpenCalls } from '../../../../src/application/tools/open-calls.ts';
import type { ToolCall, ToolOutcome } from '../../../../src/application/tools/tool-call.ts';
import type { Elicitation } from '../../../../src/domain/gateway/elicitation.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { callerOf } from '../../../support/origins.ts';

const ALICE = { caller: 'alice', request: 'delete' };
const BOTH = { elicitation: { form: {}, url: {} } };
const asked = (message: string): Elicitation => ({
  server: 'files',
  mode: 'form',
  message,
  schema: { type: 'object', properties: {} },
  params: { message },
});

const textResult = (text: string): ToolOutcome => {
  const content = [{ type: 'text', text }];
  return ok({ raw: { content }, content, isError: false });
};

/** Calls whose states are numbers. */
function start() {
  let states = 0;
  const clock = new FakeClock();
  const newState = () => {
    states += 1;
    return `state-${states}`;
  };
  const calls = new OpenCalls({ clock, newState, digest: (text) => `digest of ${text}` });
  const signal = new AbortController();
  const ask = (message: string, { asker }: Pick<ToolCall, 'asker'>, by: AbortSignal = new AbortController().signal) =>
    asker?.ask(asked(message), by);
  return { calls, clock, ask, signal: signal.signal, leave: () => signal.abort() };
}

describe('a call of a client that gets questions as results', () => {
  test('goes on with the answer, and ends', async () => {
    const { calls, ask, signal } = start();
    const call = calls.begin(ALICE, BOTH, async (more) => textResult(JSON.stringify(await ask('Sure?', more))));
    expect(await call.step(() => {}, signal)).toMatchObject({ state: 'state-1', elicitation: { message: 'Sure?' } });
    expect([...calls.questions()]).toEqual([['files', 1]]);
    expect(calls.take('state-1', ALICE)).toMatchObject({ open: call });
    call.answer('state-1', { action: 'decline' });
    expect(await call.step(() => {}, signal)).toEqual({ outcome: textResult('{"action":"decline"}') });
    expect(calls.questions().size).toBe(0);
  });

  test('asks one question after the other, also if its server asks several at once', async () => {
    const { calls, ask, signal } = start();
    const call = calls.begin(ALICE, BOTH, async (more) =>
      textResult(JSON.stringify(await Promise.all([ask('A?', more), ask('B?', more)]))),
    );
    expect(await call.step(() => {}, signal)).toMatchObject({ state: 'state-1', elicitation: { message: 'A?' } });
    call.answer('state-1', { action: 'decline' });
    expect(await call.step(() => {}, signal)).toMatchObject({ state: 'state-2', elicitation: { message: 'B?' } });
    call.answer('state-2', { action: 'cancel' });
    expect(await call.step(() => {}, signal)).toMatchObject({
      outcome: textResult('[{"action":"decline"},{"action":"cancel"}]'),
    });
  });

  test('asks again with another state what was not answered', async () => {
    const { calls, ask, signal } = start();
    const call = calls.begin(ALICE, BOTH, async (more) => textResult(JSON.stringify(await ask('Sure?', more))));
    await call.step(() => {}, signal);
    call.askAgain('state-1');
    expect(await call.step(() => {}, signal)).toMatchObject({ state: 'state-2', elicitation: { message: 'Sure?' } });
  });

  test('is cancelled by a client that leaves during a request', async () => {
    const { calls, signal, leave } = start();
    const call = calls.begin(
      ALICE,
      BOTH,
      (_, untilOver) =>
        new Promise((resolve) => untilOver.addEventListener('abort', () => resolve(err({ kind: 'cancelled' })))),
    );
    const step = call.step(() => {}, signal);
    leave();
    expect(await step).toEqual({ outcome: err({ kind: 'cancelled' }) });
  });

  test('goes on while its client is away, and keeps its end for ten minutes', async () => {
    const { calls, clock, ask, signal } = start();
    const ended = new AbortController();
    const call = calls.begin(ALICE, BOTH, async (more) => {
      await ask('Sure?', more, ended.signal);
      return err({ kind: 'crashed', reason: 'killed' });
    });
    await call.step(() => {}, signal);
    ended.abort();
    expect(calls.continues('state-1', ALICE)).toBe(true);
    expect(await call.step(() => {}, signal)).toEqual({ outcome: err({ kind: 'crashed', reason: 'killed' }) });
    await clock.advance(600_000);
    expect(calls.continues('state-1', ALICE)).toBe(false);
  });

  test('counts the questions of its caller', async () => {
    const { calls, ask, signal } = start();
    const open: (number | undefined)[][] = [];
    const run = async (more: Pick<ToolCall, 'asker'>) => {
      const { asker } = more;
      open.push([asker?.open?.(), asker?.open?.('files'), asker?.open?.('others')]);
      return textResult(JSON.stringify(await ask('Sure?', more)));
    };
    for (const caller of ['alice', 'alice', 'bob']) {
      const call = calls.begin({ caller, request: 'delete' }, BOTH, run);
      await call.step(() => {}, signal);
    }
    expect(open).toEqual([
      [0, 0, 0],
      [1, 1, 0],
      [0, 0, 0],
    ]);
    expect([...calls.questions('alice')]).toEqual([['files', 2]]);
    expect([...calls.questions()]).toEqual([['files', 3]]);
  });

  test('ends with its process', async () => {
    const { calls, ask, signal } = start();
    const run = async (more: Pick<ToolCall, 'asker'>) => textResult(JSON.stringify(await ask('Sure?', more)));
    const call = calls.begin(ALICE, BOTH, run);
    await call.step(() => {}, signal);
    calls.close();
    expect(await call.step(() => {}, signal)).toEqual({ outcome: textResult('"ended"') });
    const later = calls.begin(ALICE, BOTH, run);
    expect(await later.step(() => {}, signal)).toEqual({ outcome: textResult('"ended"') });
  });

  test('reports an exception with the request that waits for it', async () => {
    const { calls, signal } = start();
    const call = calls.begin(ALICE, BOTH, async () => {
      throw new Error('a bug');
    });
    await expect(call.step(() => {}, signal)).rejects.toThrow('a bug');
  });
});

describe('a state', () => {
  test.for([
    { caller: 'bob', request: 'delete' },
    { caller: 'alice', request: 'other' },
  ])('is not taken by %j', async (other) => {
    const { calls, ask, signal } = start();
    const call = calls.begin(ALICE, BOTH, async (more) => textResult(JSON.stringify(await ask('Sure?', more))));
    await call.step(() => {}, signal);
    expect(calls.continues('state-1', other)).toBe(false);
    expect(calls.take('state-1', other)).toBe('other');
    expect(calls.take('state-1', ALICE)).toMatchObject({ open: call });
    expect(calls.take('state-1', ALICE)).toEqual({ open: undefined, answered: [] });
  });

  test('of a server is remembered for its caller, with the answers so far, once', () => {
    const { calls } = start();
    calls.onPassed('of the server', ALICE, ['accept']);
    expect(calls.continues('of the server', { ...ALICE, caller: 'bob' })).toBe(false);
    expect(calls.take('of the server', { ...ALICE, caller: 'bob' })).toEqual({ open: undefined, answered: [] });
    expect(calls.continues('of the server', ALICE)).toBe(true);
    expect(calls.take('of the server', ALICE)).toEqual({ open: undefined, answered: ['accept'] });
    expect(calls.continues('of the server', ALICE)).toBe(false);
  });
});

test('a person whom a claim names like the caller does not continue the call', async () => {
  const { calls, ask, signal } = start();
  const by = (sub: string) => callerOf('oauth:sam', { subject: { issuer: 'https://a.example', sub } });
  const request = { method: 'tools/call', params: { name: 'files__delete' } };
  const begun = takeOpen(calls, { ...request, by: by('1') });
  if (begun === 'other') throw new Error('the call is new');
  const call = calls.begin(begun.identity(), BOTH, async (options, limit) => {
    await ask('Delete?', options, limit);
    return textResult('deleted');
  });
  const step = await call.step(() => {}, signal);
  const retry = { ...request.params, requestState: 'state' in step ? step.state : '' };
  expect(continuesCall(calls, { ...request, params: retry, by: by('2') })).toBe(false);
  expect(takeOpen(calls, { ...request, params: retry, by: by('2') })).toBe('other');
  expect(continuesCall(calls, { ...request, params: retry, by: by('1') })).toBe(true);
});
