import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { OutgoingMessage } from '../../../../../src/adapters/inbound/mcp/json-rpc.ts';
import { ProgressReporter } from '../../../../../src/adapters/inbound/mcp/progress-reporter.ts';
import { progressMessage } from '../../../../../src/adapters/inbound/words/progress-messages.ts';
import type { SearchProgress } from '../../../../../src/application/ports/llm-search.ts';
import type { Language } from '../../../../../src/domain/answers/language.ts';
import { anyCharacter } from '../../../../support/any-text.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { runs } from '../../../../support/sized.ts';

interface SentLine {
  readonly atMs: number;
  readonly message: string;
  readonly progress: number;
}

function start({ token = 'token', language = 'en' }: { token?: string | number; language?: Language } = {}) {
  const clock = new FakeClock();
  const sent: OutgoingMessage[] = [];
  const sentLines: SentLine[] = [];
  const send = (message: OutgoingMessage) => {
    sent.push(message);
    const { params } = message as unknown as { params: { message: string; progress: number } };
    sentLines.push({ atMs: clock.elapsedMs(), message: params.message, progress: params.progress });
  };
  const reporter = new ProgressReporter({ token, language, clock, notify: send });
  const lines = () => sentLines.map(({ atMs, message }) => [atMs, message]);
  return { reporter, clock, sent, sentLines, lines };
}

const asking: SearchProgress = { kind: 'asking' };
const thinking: SearchProgress = { kind: 'thinking' };
const searched = (query: string): SearchProgress => ({ kind: 'searching', query });
const opened = (url: string): SearchProgress => ({ kind: 'opened_page', url });
const writing = (characters: number): SearchProgress => ({ kind: 'writing', characters });
const retrying = (waitMs: number): SearchProgress => ({
  kind: 'retrying',
  reason: 'rate_limited',
  waitMs,
  attempt: 2,
});

test('the first line is sent at once, complete', () => {
  const { reporter, sent } = start({ token: 'a token' });
  reporter.onProgress(asking);
  expect(sent).toEqual([
    {
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken: 'a token', progress: 1, message: 'Asking the model' },
    },
  ]);
});

test('the messages are in the language of the question', () => {
  const { reporter, lines } = start({ language: 'ja' });
  reporter.onProgress(searched('東京の天気'));
  expect(lines()).toEqual([[0, '検索: 東京の天気']]);
});

test('later lines wait for one second, and only the latest state is sent', async () => {
  const { reporter, clock, lines } = start();
  reporter.onProgress(asking);
  await clock.advance(300);
  reporter.onProgress(writing(10));
  await clock.advance(300);
  reporter.onProgress(writing(20));
  await clock.advance(5000);
  expect(lines()).toEqual([
    [0, 'Asking the model'],
    [1000, 'Writing (20 characters) · 1 s'],
  ]);
});

test('queries and pages that wait are joined into one line', async () => {
  const { reporter, clock, lines } = start();
  reporter.onProgress(asking);
  reporter.onProgress(searched('tokyo weather'));
  reporter.onProgress(searched('tokyo rain'));
  reporter.onProgress(opened('https://tenki.jp/'));
  await clock.advance(1000);
  expect(lines()).toEqual([
    [0, 'Asking the model'],
    [1000, 'Searched: tokyo weather · Searched: tokyo rain · Opened: https://tenki.jp/'],
  ]);
});

describe('a call of an own tool', () => {
  const calling = (tool: string): SearchProgress => ({ kind: 'calling', server: 'jira', tool });
  const called = (tool: string): SearchProgress => {
    return { kind: 'called', server: 'jira', tool, ms: 50, characters: 120, reason: undefined };
  };

  test('is reported with the round after it, even if everything is over within a second', async () => {
    const { reporter, lines } = start();
    for (const step of [asking, thinking, calling('get'), called('get'), { kind: 'asking', round: 2 } as const])
      reporter.onProgress(step);
    reporter.onProgress(writing(5));
    reporter.finish();
    expect(lines()).toEqual([
      [0, 'Asking the model'],
      [0, 'Calling jira/get · jira/get: 120 characters, 50 ms · Asking the model (round 2)'],
    ]);
  });

  test('is the current activity until it ends', async () => {
    const { reporter, clock, lines } = start();
    reporter.onProgress(thinking);
    await clock.advance(1000);
    reporter.onProgress(calling('get'));
    await clock.advance(10_000);
    reporter.onProgress(called('get'));
    reporter.stop();
    expect(lines()).toEqual([
      [0, 'Thinking'],
      [1000, 'Calling jira/get'],
      [11_000, 'Calling jira/get · 11 s'],
    ]);
  });
});

test('what does not fit on a line waits for the next second', async () => {
  const { reporter, clock, lines } = start();
  reporter.onProgress(asking);
  for (const name of ['a', 'b', 'c']) reporter.onProgress(searched(name.repeat(120)));
  await clock.advance(3000);
  expect(lines()).toEqual([
    [0, 'Asking the model'],
    [1000, `Searched: ${'a'.repeat(120)}`],
    [2000, `Searched: ${'b'.repeat(120)}`],
    [3000, `Searched: ${'c'.repeat(120)}`],
  ]);
});

test('a text that is too long for a line is shortened with an ellipsis', () => {
  const { reporter, lines } = start();
  reporter.onProgress(searched('😀'.repeat(150)));
  const [[, message] = []] = lines();
  expect(message).toMatch(/^Searched: (?:😀)+…$/u);
  expect(String(message).length).toBeGreaterThan(190);
  expect(String(message).length).toBeLessThanOrEqual(200);
});

test('without progress a line is sent every ten seconds, with the elapsed time', async () => {
  const { reporter, clock, lines } = start();
  reporter.onProgress(thinking);
  await clock.advance(30_000);
  expect(lines()).toEqual([
    [0, 'Thinking'],
    [10_000, 'Thinking · 10 s'],
    [20_000, 'Thinking · 20 s'],
    [30_000, 'Thinking · 30 s'],
  ]);
});

test('at the end the waiting line is sent, and then nothing', async () => {
  const { reporter, clock, lines } = start();
  reporter.onProgress(asking);
  reporter.onProgress(searched('tokyo weather'));
  reporter.onProgress(writing(5));
  reporter.finish();
  reporter.onProgress(opened('https://too-late.example/'));
  await clock.advance(60_000);
  expect(lines()).toEqual([
    [0, 'Asking the model'],
    [0, 'Searched: tokyo weather'],
  ]);
  expect(clock.pendingSleeps).toBe(0);
});

describe('for any progress at any time', () => {
  const text = fc.string({ unit: anyCharacter, maxLength: 60 });
  const long = fc.integer({ min: 1, max: 300 }).map((length) => '長い😀'.repeat(length));
  const word = fc.oneof(text, long);
  const step = fc.oneof(
    fc.constant(thinking),
    fc.constant<SearchProgress>({ kind: 'searching' }),
    fc.nat(99).map((ahead): SearchProgress => ({ kind: 'waiting', ahead })),
    fc.nat(99_999).map(writing),
    fc.tuple(fc.nat(1e6), word).map(([n, query]) => searched(`q${n} ${query}`)),
    fc.tuple(fc.nat(1e6), word).map(([n, path]) => opened(`https://a.com/${n}/${path}`)),
    fc.nat(90_000).map(retrying),
  );
  const wait = fc.oneof(fc.constant(0), fc.nat(1500), fc.nat(25_000));
  const steps = fc.array(fc.tuple(step, wait), { minLength: 1, maxLength: 25 });
  const language = fc.constantFrom<Language>('en', 'ja');

  // S17
  test('lines are in order, neither too many nor too few, and no query or page is lost', async () => {
    await fc.assert(
      fc.asyncProperty(steps, language, async (steps, language) => {
        const { reporter, clock, sentLines } = start({ language });
        for (const [progress, waitMs] of steps) {
          reporter.onProgress(progress);
          expect(sentLines[0]?.atMs).toBe(0);
          await clock.advance(waitMs);
        }
        const beforeTheEnd = sentLines.length;
        reporter.finish();
        const atTheEnd = sentLines.length;
        const endMs = clock.elapsedMs();
        reporter.onProgress(searched('too late'));
        await clock.advance(30_000);
        expect(sentLines).toHaveLength(atTheEnd);
        expect(clock.pendingSleeps).toBe(0);

        expect(sentLines.map(({ progress }) => progress)).toEqual(sentLines.map((_, index) => index + 1));
        for (const { message } of sentLines) {
          expect(message).toMatch(/^\S.*$/u);
          expect(message).not.toMatch(/[\n\r\u2028\u2029\u0085]/);
          expect(message.length).toBeLessThanOrEqual(200);
          expect(message.isWellFormed()).toBe(true);
        }
        const times = sentLines.slice(0, beforeTheEnd).map(({ atMs }) => atMs);
        for (const [index, atMs] of times.entries()) {
          const gapMs = (times[index + 1] ?? endMs) - atMs;
          if (index + 1 < times.length) expect(gapMs).toBeGreaterThanOrEqual(1000);
          expect(gapMs).toBeLessThanOrEqual(10_000);
        }
        expectSentInOrder(
          steps.map(([progress]) => progress),
          sentLines,
          language,
        );
      }),
      { numRuns: runs(300) },
    );
  });

  test('what waits is sent soon, even if the call continues', async () => {
    await fc.assert(
      fc.asyncProperty(steps, language, async (steps, language) => {
        const { reporter, clock, sentLines } = start({ language });
        for (const [progress] of steps) reporter.onProgress(progress);
        await clock.advance(1000 * steps.length);
        reporter.stop();
        expectSentInOrder(
          steps.map(([progress]) => progress),
          sentLines,
          language,
        );
      }),
      { numRuns: runs(300) },
    );
  });

  test('nothing is sent after it was stopped', async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.nat(25), async (steps, stopAt) => {
        const { reporter, clock, sentLines } = start();
        let sentBefore = Number.POSITIVE_INFINITY;
        for (const [index, [progress, waitMs]] of steps.entries()) {
          if (index === stopAt) {
            reporter.stop();
            sentBefore = sentLines.length;
          }
          reporter.onProgress(progress);
          await clock.advance(waitMs);
        }
        if (stopAt < steps.length) {
          expect(sentLines).toHaveLength(sentBefore);
          expect(clock.pendingSleeps).toBe(0);
        }
        reporter.stop();
        await clock.advance(20_000);
        expect(clock.pendingSleeps).toBe(0);
      }),
      { numRuns: runs(200) },
    );
  });
});

/** Each query, page and retry is on some line, in the order of events; shortened only if it is itself too long. */
function expectSentInOrder(steps: readonly SearchProgress[], sentLines: readonly SentLine[], language: Language): void {
  let [line, from] = [0, 0];
  for (const progress of steps) {
    if (!('query' in progress) && progress.kind !== 'opened_page') continue;
    const words = progressMessage(progress, language);
    const expected = words.length <= 200 ? words : words.slice(0, 190);
    let at = -1;
    for (; line < sentLines.length; line += 1, from = 0) {
      at = sentLines[line]?.message.indexOf(expected, from) ?? -1;
      if (at >= 0) break;
    }
    expect(at, `sent, in order: ${words}`).toBeGreaterThanOrEqual(0);
    from = at + expected.length;
  }
}
