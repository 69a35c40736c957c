import { describe, expect, onTestFinished, test } from 'vitest';
import type { LlmSearch, SearchRequest } from '../../src/application/ports/llm-search.ts';
import { totalUse } from '../../src/application/tools/total-use.ts';
import { settled } from '../support/fake-clock.ts';
import { errorOf, expectNoListener, never, ProgressLog, replyOf, searchRequest } from './search-kit.ts';

export type SearchKind = 'answered' | 'failing' | 'hanging';

/** An LlmSearch, and the requests with which its peer replies, fails or hangs. */
export interface StartedSearch {
  readonly search: LlmSearch;
  /** A question that gets a complete reply after a web search, with progress before it. */
  readonly answered: SearchRequest;
  /** A question whose search fails. */
  readonly failing: SearchRequest;
  /** A question that gets no reply, if the search ever waits. */
  readonly hanging?: SearchRequest;
  /** Resolves once the hanging question has reached the peer. */
  readonly untilHanging?: () => Promise<void>;
  readonly stop?: () => Promise<void>;
}

/**
 * What every LlmSearch promises (see the port). `start` receives the kinds of the searches that the test makes, in order, for
 * an implementation that must know them before. A search that never waits cannot be aborted before its reply.
 */
export function describeLlmSearch(
  name: string,
  start: (searches: readonly SearchKind[]) => Promise<StartedSearch>,
  { waits = true }: { readonly waits?: boolean } = {},
): void {
  const started = async (...searches: readonly SearchKind[]): Promise<StartedSearch> => {
    const search = await start(searches);
    onTestFinished(async () => search.stop?.());
    return search;
  };

  describe(`${name} as an LlmSearch`, () => {
    test('replies with a text, its ending, its sources and a report', async () => {
      const { search, answered } = await started('answered');
      const reply = replyOf(await search.search(answered, new ProgressLog(), never()));
      expect(reply).toMatchObject({ ending: { kind: 'complete' }, searched: true });
      expect(reply.text.trim()).not.toBe('');
      expect(reply.sources.cited).toContainEqual(expect.objectContaining({ url: expect.stringMatching(/^https?:/) }));
      expect(reply.report.searches).toBeGreaterThanOrEqual(1);
      expect(reply.report.attempts).toBe(1);
    });

    test('replies in a conversation without functions, too, and asks for no calls', async () => {
      const { search, answered } = await started('answered');
      const mode = { functions: [], mayCall: false, web: 'open', rounds: [] } as const;
      const reply = replyOf(await search.search({ ...answered, mode }, new ProgressLog(), never()));
      expect(reply).toMatchObject({ ending: { kind: 'complete' }, calls: [], items: expect.any(Array) });
      expect(reply.text.trim()).not.toBe('');
    });

    test('reports progress to its observer', async () => {
      const { search, answered } = await started('answered');
      const observer = new ProgressLog();
      await search.search(answered, observer, never());
      expect(observer.seen.length).toBeGreaterThan(0);
    });

    test('reports to its observer what it used', async () => {
      const { search, answered } = await started('answered');
      const observer = new ProgressLog();
      const { usage, searches } = replyOf(await search.search(answered, observer, never())).report;
      expect(totalUse(observer.uses)).toMatchObject({ searches, ...(usage && { usage }) });
    });

    test('reports the ID of its response in background mode only', async () => {
      const { search, answered } = await started('answered', 'answered');
      const ids: unknown[] = [];
      const observer = { onProgress: () => {}, onStarted: (id: string | undefined) => void ids.push(id) };
      await search.search(answered, observer, never());
      expect(ids).toEqual([]);
      await search.search({ ...answered, mode: 'background' }, observer, never());
      expect(ids).toEqual([expect.stringMatching(/^[A-Za-z0-9_-]{1,90}$/)]);
    });

    test('resolves with an error when it fails', async () => {
      const { search, failing } = await started('failing');
      const error = errorOf(await search.search(failing, new ProgressLog(), never()));
      expect(error.kind).toMatch(/^\w+$/);
      expect(error.kind).not.toBe('aborted');
    });

    test('settles with `aborted` and reports nothing if the signal is already aborted', async () => {
      const { search, answered } = await started('answered');
      const observer = new ProgressLog();
      const signal = AbortSignal.abort();
      expect(errorOf(await search.search(answered, observer, signal))).toEqual({ kind: 'aborted' });
      expect(observer.seen).toEqual([]);
      expectNoListener(signal);
    });

    test('settles with `aborted` if the signal aborts right after the call', async () => {
      const { search, answered } = await started('answered');
      const controller = new AbortController();
      const outcome = search.search(answered, new ProgressLog(), controller.signal);
      controller.abort();
      expect(errorOf(await outcome)).toEqual({ kind: 'aborted' });
      expectNoListener(controller.signal);
    });

    test('settles with `aborted` and reports nothing more if the signal aborts during the search', async () => {
      const { search, answered } = await started('answered');
      const controller = new AbortController();
      const observer = new ProgressLog(() => controller.abort());
      expect(errorOf(await search.search(answered, observer, controller.signal))).toEqual({ kind: 'aborted' });
      await new Promise(setImmediate);
      expect(observer.seen).toHaveLength(1);
      expectNoListener(controller.signal);
    });

    if (waits)
      test('settles with `aborted` if the signal aborts before a reply', async () => {
        const { search, hanging = searchRequest(), untilHanging = settled } = await started('hanging');
        const controller = new AbortController();
        const observer = new ProgressLog();
        const outcome = search.search(hanging, observer, controller.signal);
        await untilHanging();
        const seenBefore = observer.seen.length;
        controller.abort('some reason');
        expect(errorOf(await outcome)).toEqual({ kind: 'aborted' });
        expect(observer.seen).toHaveLength(seenBefore);
        expectNoListener(controller.signal);
      });

    test('leaves no listener on the signal after a reply or an error', async () => {
      const { search, answered, failing } = await started('answered', 'failing');
      const { signal } = new AbortController();
      await search.search(answered, new ProgressLog(), signal);
      expectNoListener(signal);
      await search.search(failing, new ProgressLog(), signal);
      expectNoListener(signal);
    });

    test('does not end other searches when one is aborted', async () => {
      const { search, answered } = await started('answered', 'answered', 'answered');
      const aborted = new AbortController();
      const observer = new ProgressLog(() => aborted.abort());
      const outcomes = await Promise.all([
        search.search(answered, observer, aborted.signal),
        search.search(answered, new ProgressLog(), never()),
        search.search(answered, new ProgressLog(), never()),
      ]);
      expect(outcomes.map((outcome) => (outcome.isOk() ? 'ok' : outcome.error.kind))).toEqual(['aborted', 'ok', 'ok']);
    });
  });
}
