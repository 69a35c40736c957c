import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { OutgoingMessage } from '../../../../../src/adapters/inbound/mcp/json-rpc.ts';
import { ProgressReporter } from '../../../../../src/adapters/inbound/mcp/progress-reporter.ts';
import { progressMessage } from '../../../../../src/adapters/inbound/words/mcp-messages.ts';
import type { SearchProgress } from '../../../../../src/application/ports/llm-search.ts';
import type { Language } from '../../../../../src/domain/answers/question.ts';
import { anyCharacter } from '../../../../support/any-text.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { runs } from '../../../../support/sized.ts';

interface SentLine {
  readonly atMs: number;
  readonly message: string;
  readonly progress: number;
}

function start(language: Language = 'en') {
  const clock = new FakeClock();
  const sent: OutgoingMessage[] = [];
  const sentLines: SentLine[] = [];
  const send = (message: OutgoingMessage) => {
    sent.push(message);
    const { params } = message as unknown as { params: { message: string; progress: number } };
    sentLines.push({ atMs: clock.elapsedMs(), message: params.message, progress: params.progress });
  };
  const reporter = new ProgressReporter({ token: 'a token', language, clock, notify: send });
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
  const { reporter, sent } = start();
  reporter.onProgress(asking);
  expect(sent).toEqual([
    {
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken: 'a token', progress: 1, message: 'Asking the model' },
    },
  ]);
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

test('queries, pages and the latest retry are joined into one line while they wait', async () => {
  const { reporter, clock, lines } = start();
  for (const step of [asking, searched('tokyo rain'), retrying(1000), opened('https://tenki.jp/'), retrying(2000)])
    reporter.onProgress(step);
  await clock.advance(1000);
  expect(lines()).toEqual([
    [0, 'Asking the model'],
    [1000, 'Searched: tokyo rain · Opened: https://tenki.jp/ · Rate limited; retrying in 2 s'],
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

test('without progress a line is sent every ten seconds, with the elapsed time, in the language of the question', async () => {
  const { reporter, clock, lines } = start('ja');
  reporter.onProgress(thinking);
  await clock.advance(20_000);
  expect(lines()).toEqual([
    [0, '考えています'],
    [10_000, '考えています · 10 s'],
    [20_000, '考えています · 20 s'],
  ]);
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
        const { reporter, clock, sentLines } = start(language);
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
        expectSentInOrder(steps, sentLines, language);
      }),
      { numRuns: runs(300) },
    );
  });

  test('what waits is sent soon, even if the call continues', async () => {
    await fc.assert(
      fc.asyncProperty(steps, language, async (steps, language) => {
        const { reporter, clock, sentLines } = start(language);
        for (const [progress] of steps) reporter.onProgress(progress);
        await clock.advance(1000 * steps.length);
        reporter.stop();
        expectSentInOrder(steps, sentLines, language);
      }),
      { numRuns: runs(300) },
    );
  });

  test('nothing is sent after it was stopped', async () => {
    await fc.assert(
      fc.asyncProperty(steps, steps, async (before, after) => {
        const { reporter, clock, sentLines } = start();
        for (const [progress, waitMs] of before) {
          reporter.onProgress(progress);
          await clock.advance(waitMs);
        }
        reporter.stop();
        const sentBefore = sentLines.length;
        for (const [progress, waitMs] of after) {
          reporter.onProgress(progress);
          await clock.advance(waitMs);
        }
        expect(sentLines).toHaveLength(sentBefore);
        expect(clock.pendingSleeps).toBe(0);
      }),
      { numRuns: runs(200) },
    );
  });
});

/** Each query and page is on some line, in the order of events. It is shortened only if it is too long for a line. */
function expectSentInOrder(
  steps: readonly (readonly [SearchProgress, number])[],
  sentLines: readonly SentLine[],
  language: Language,
): void {
  let [line, from] = [0, 0];
  for (const [progress] of steps) {
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
