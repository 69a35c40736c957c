import { describe, expect, test } from 'vitest';
import { ResponseEvents } from '../../../../../src/adapters/outbound/openai/response-events.ts';
import { readResponse } from '../../../../../src/adapters/outbound/openai/response-reader.ts';
import { createRedactor } from '../../../../../src/domain/values/redaction.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

const MESSAGE = { type: 'message', status: 'completed', content: [{ type: 'output_text', text: 'It is 5.' }] };
const RESPONSE = { id: 'resp_1', status: 'completed', output: [MESSAGE] };
const ITEM = { type: 'response.output_item.done', output_index: 0, item: MESSAGE };

async function* silent(...events: readonly object[]) {
  for (const event of events) yield Buffer.from(`data: ${JSON.stringify(event)}\n\n`);
  await new Promise(() => {});
}

async function* text(body: string) {
  yield Buffer.from(body);
}

/** Reads a body; `wait` is what happens meanwhile. */
async function read(
  body: AsyncIterable<Uint8Array>,
  { type = 'text/event-stream', wait = async (_: FakeClock) => {} } = {},
) {
  const clock = new FakeClock();
  const context = { model: 'm', apiKeyVariable: 'KEY', route: 'api.test', attempt: 1, redactor: createRedactor() };
  const events = new ResponseEvents(context);
  const headers = new Headers({ 'content-type': type });
  const response = { status: 200, ok: true, headers, body, text: async () => '' };
  const reading = readResponse(async () => response, { events, clock });
  await wait(clock);
  return { outcome: await reading, events, clock };
}

// S40
describe('a stream that stays open without another event', () => {
  test.each<[after: string, seconds: number, event: object, expected: object]>([
    ['the last item', 10, ITEM, { status: 'completed', output: [MESSAGE] }],
    ['a failure without a reason', 1, { type: 'response.failed', response: { error: null } }, { status: 'failed' }],
  ])('ends after %s and %d s', async (_, seconds, event, expected) => {
    const wait = async (clock: FakeClock) => {
      await clock.asleep;
      await clock.advance(seconds * 1000);
    };
    const { outcome, clock } = await read(silent(event), { wait });
    expect(outcome._unsafeUnwrap()).toMatchObject(expected);
    expect(clock.slept).toEqual([seconds * 1000]);
  });
});

describe('a body', () => {
  test.each([
    ['a response in JSON that is called a stream', JSON.stringify(RESPONSE, undefined, 2), 'text/event-stream'],
    ['a stream that is called a text', `data: ${JSON.stringify(ITEM)}\n\ndata: [DONE]\n\n`, 'text/plain'],
  ])('%s is read as what it is', async (_, body, type) => {
    const { outcome } = await read(text(body), { type });
    expect(outcome._unsafeUnwrap().output).toEqual([MESSAGE]);
  });

  test.each(['text/html', 'text/event-stream'])('that is a page is quoted as it is shown, also as %s', async (type) => {
    const { outcome } = await read(text('<html><script>x()</script><h1>Sign in</h1></html>'), { type });
    expect(outcome._unsafeUnwrapErr().error).toEqual({
      kind: 'unreadable_reply',
      detail: 'neither JSON nor an event stream: Sign in',
    });
  });
});

// S40
describe('a response that has another form', () => {
  const data = (...events: readonly object[]) => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
  const DELTA = { type: 'response.output_text.delta', output_index: 0, delta: 'It is 5.' };
  const ANSWER = { output: [{ type: 'message' }] };

  test.each<[form: string, body: object]>([
    ['wrapped as `response`', { response: RESPONSE }],
    ['wrapped as `result`', { result: RESPONSE, success: true, errors: [] }],
    ['with a text as output', { ...RESPONSE, output: 'It is 5.' }],
    ['with a text beside the output', { ...RESPONSE, output: [], output_text: 'It is 5.' }],
    ['with a text in place of the output', { ...RESPONSE, output: undefined, output_text: 'It is 5.' }],
  ])('%s is read', async (_, body) => {
    const { outcome } = await read(text(JSON.stringify(body)), { type: 'application/json' });
    expect(outcome._unsafeUnwrap()).toMatchObject(ANSWER);
  });

  test.each<[form: string, body: string]>([
    ['the whole response as its only event', data(RESPONSE)],
    ['another terminal event', data(DELTA, { type: 'response.done', response: { ...RESPONSE, output: [] } })],
    [
      'a terminal event with an earlier status',
      data(ITEM, { type: 'response.completed', response: { status: 'in_progress' } }),
    ],
    ['the end of a text, but not of its item', data(DELTA, { type: 'response.output_text.done', text: 'It is 5.' })],
  ])('that ends with %s is an answer', async (_, body) => {
    const { outcome } = await read(text(body));
    expect(outcome._unsafeUnwrap()).toMatchObject({ status: 'completed', ...ANSWER });
  });

  test.each<[what: string, body: string]>([
    ['deltas', data(DELTA)],
    [
      'the end of a commentary',
      data(
        { type: 'response.output_item.added', output_index: 0, item: { type: 'message', phase: 'commentary' } },
        DELTA,
        { type: 'response.output_text.done', text: 'It is 5.' },
      ),
    ],
    [
      'the end of a text while a search runs',
      data({ type: 'response.output_item.added', output_index: 1, item: { type: 'web_search_call' } }, DELTA, {
        type: 'response.output_text.done',
        text: 'It is 5.',
      }),
    ],
    ['pings', data({ type: 'ping' })],
  ])('that ends after %s ended too early', async (_, body) => {
    const { outcome } = await read(text(body));
    expect(outcome._unsafeUnwrapErr()).toMatchObject({ error: { kind: 'connection_failed' }, isTransient: true });
  });

  test('that is a stream of another API is quoted, and not asked for again', async () => {
    const chunk = { object: 'chat.completion.chunk', choices: [{ delta: { content: 'It is 5.' } }] };
    const { outcome, events } = await read(text(`${data(chunk)}data: [DONE]\n\n`));
    expect(events.outcome).toBeUndefined();
    expect(outcome._unsafeUnwrap()).toMatchObject(chunk);
  });
});
