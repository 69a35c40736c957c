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
