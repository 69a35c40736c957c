import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { answerOf, serveWithApi } from '../e2e/serve.ts';
import { answers, type Behaviour, fails } from '../support/behaviours.ts';
import type { FakeApi, RecordedRequest } from '../support/fake-api.ts';
import type { JsonRpcMessage } from '../support/mcp-output.ts';
import type { McpProcess } from '../support/mcp-process.ts';
import { posixTest } from '../support/platform.ts';
import { sized } from '../support/sized.ts';

/** `request.max_concurrency` without configuration. */
const MOST = 16;
/** Many more than run at a time. */
const MANY = sized(160, 500);

test('calls, a random half of them cancelled at random moments: no response is missing, none is sent twice', async () => {
  const { api, server } = await serveWithApi();
  const random = seeded(3);
  replyAndWatch(api, answerSlowly);
  const cancelled = new Set<number>();
  const cancel = (number: number) => {
    cancelled.add(number);
    server.notify('notifications/cancelled', { requestId: number });
    // The ping is answered after the cancellation, so it separates late responses from early ones.
    void server.request('ping', {}, `after ${number}`);
  };
  for (const number of numbers(MANY)) {
    void server.callTool('answer', { query: `question ${number}` }, undefined, number);
    if (random() < 0.5) cancel(Math.floor(random() * number) + 1);
    if (number % 20 === 0) await wait(random() * 60);
  }
  const ids = (await finish(server)).map(({ id }) => id);
  const calls = ids.filter((id) => typeof id === 'number');

  expect(cancelled.size).toBeGreaterThan(MANY * 0.3);
  expect(calls).toHaveLength(new Set(calls).size);
  const expected = numbers(MANY).filter((number) => !cancelled.has(number));
  expect(expected.filter((number) => !ids.includes(number))).toEqual([]);
  const late = [...cancelled].filter((number) => ids.indexOf(number) > ids.indexOf(`after ${number}`));
  expect(late).toEqual([]);
  // Many of those that were cancelled in time are never sent upstream.
  const unanswered = [...cancelled].filter((number) => !ids.includes(number));
  expect(unanswered.length).toBeGreaterThan(MANY * 0.1);
});

test('a storm in which a fifth meet 429 or 500: each call gets one response, its own answer, and 16 run at a time', async () => {
  const { api, server } = await serveWithApi();
  const random = seeded(5);
  const fates = numbers(MANY).map(() => random());
  const seen = new Set<number>();
  const peak = replyAndWatch(
    api,
    (number) => {
      const fate = fates[number - 1] ?? 1;
      if (fate >= 0.2 || seen.has(number)) return answerSlowly(number);
      seen.add(number);
      if (fate < 0.1) return rateLimited({ 'retry-after-ms': String(Math.ceil(fate * 500)) });
      return fails({ status: 500, error: SLOW_DOWN, headers: { 'retry-after-ms': '20' } });
    },
    MOST,
  );
  for (const id of numbers(MANY)) void server.callTool('answer', { query: `question ${id}` }, undefined, id);
  const answered = await finish(server);
  expect(answered.map(({ id }) => id).sort(byNumber)).toEqual(numbers(MANY));
  expect(answered.map((message) => answerOf(message).answer)).toEqual(answered.map(({ id }) => `Answer ${id}.`));
  expect(seen.size).toBeGreaterThan(MANY * 0.12);
  // Every rejection costs exactly one more request.
  expect(api.requests).toHaveLength(MANY + seen.size);
  expect(peak()).toBe(MOST);
});

/**
 * Prints the size of the heap on SIGUSR2, after a full garbage collection. Without one the number is meaningless: V8
 * collects when it chooses to.
 */
const PRINTS_HEAP = {
  NODE_OPTIONS: `--max-semi-space-size=16 --import=data:text/javascript,${encodeURIComponent(`
    import v8 from 'node:v8';
    import vm from 'node:vm';
    v8.setFlagsFromString('--expose-gc');
    const collect = vm.runInNewContext('gc');
    process.on('SIGUSR2', () => {
      collect();
      collect();
      process.stderr.write('heap ' + process.memoryUsage().heapUsed + ';');
    });`)}`,
};

/** A call that leaves its promises and its signal keeps 2,000 bytes; the heap at rest varies by a megabyte. */
const MAY_KEEP_PER_CALL_BYTES = 700;
const MEASURED = sized(2000, 10_000);
posixTest('moreSignals')(
  'the heap returns to its earlier size after many calls, half of which fail or are cancelled',
  async () => {
    const { api, server } = await serveWithApi({ env: PRINTS_HEAP });
    const long = 'An answer of some length. '.repeat(200);
    const failed = new Set<number>();
    replyAndWatch(api, (number) => {
      if (number % 5 > 0 || failed.has(number)) return answers(`${long}${number}.`, { chunks: 1 });
      failed.add(number);
      return rateLimited({ 'retry-after-ms': '1' });
    });
    let asked = 0;
    const ask = async (count: number) => {
      for (const end = asked + count; asked < end; ) {
        const expected = new Set<unknown>();
        for (let inWave = 0; inWave < 400; inWave += 1) {
          asked += 1;
          const progress = asked % 2 === 0 ? { progressToken: asked } : undefined;
          void server.callTool('answer', { query: `question ${asked}` }, progress, asked);
          if (asked % 4 === 0) server.notify('notifications/cancelled', { requestId: asked });
          else expected.add(asked);
        }
        await server.waitFor(({ id }) => expected.delete(id) && expected.size === 0);
      }
    };
    await ask(800);
    const before = await heapOf(server);
    await ask(MEASURED);
    expect((await heapOf(server)) - before).toBeLessThan(MEASURED * MAY_KEEP_PER_CALL_BYTES);
  },
);

const SLOW_DOWN = { message: 'Slow down.', type: 'requests', param: null, code: 'rate_limit_exceeded' };

function rateLimited(headers: Readonly<Record<string, string>>): Behaviour {
  return fails({ status: 429, error: SLOW_DOWN, headers });
}

/** Slow enough that calls overlap upstream. */
function answerSlowly(number: number): Behaviour {
  return answers(`Answer ${number}.`, { delayMs: 1 + (number % 3) });
}

/** The number of the question in a request. */
function numberOf({ body }: RecordedRequest): number {
  return Number(/^question (\d+)/.exec(String(body.input))?.[1]);
}

/**
 * Lets the API reply depending on the question's number; returns a function that returns the highest number of open
 * requests. The first `most` wait for each other.
 */
function replyAndWatch(api: FakeApi, replyTo: (number: number) => Behaviour, most = 1): () => number {
  let peak = 0;
  api.replyWith(async (request) => {
    peak = Math.max(peak, api.openResponses());
    await api.waitForRequests(most);
    return replyTo(numberOf(request));
  });
  return () => peak;
}

/** Ends the input, waits until the process has exited normally, and returns every response that it wrote. */
async function finish(server: McpProcess): Promise<readonly JsonRpcMessage[]> {
  server.closeStdin();
  expect(await server.exited).toEqual({ code: 0, signal: null });
  expect(server.stderr()).toBe('');
  expect(server.junk).toEqual([]);
  return server.messages.filter(({ method }) => method === undefined);
}

/** The least of three measurements: some objects are freed a little later than others. */
async function heapOf(server: McpProcess): Promise<number> {
  // Longer than the rest of a stream may take after its answer.
  await wait(1100);
  const sizes = [];
  for (let look = 0; look < 3; look += 1) {
    const seen = server.stderr().length;
    server.kill('SIGUSR2');
    await expect.poll(() => server.stderr().slice(seen)).toMatch(/heap \d+;/);
    sizes.push(Number(/heap (\d+);/.exec(server.stderr().slice(seen))?.[1]));
  }
  return Math.min(...sizes);
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

function byNumber(a: unknown, b: unknown): number {
  return Number(a) - Number(b);
}

/** Random numbers from 0 to 1, the same ones in each run (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
