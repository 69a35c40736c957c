import { describe, expect, onTestFinished, test } from 'vitest';
import type { StartedResponses } from '../../src/application/ports/llm-search.ts';
import { errorOf, expectNoListener, never, searchRequest } from './search-kit.ts';

/** Started responses, and the IDs of some in each state. */
export interface StartedKit {
  readonly responses: StartedResponses;
  readonly ids: Readonly<
    Record<
      /** `unreachable`: a look fails, but a later one may succeed. `forbidden`: no later one does. `hanging`: a look never ends. */
      'working' | 'completed' | 'cancelled' | 'failed' | 'unknown' | 'unreachable' | 'forbidden' | 'hanging',
      string
    >
  >;
  /** Of the completed response. */
  readonly text: string;
  /** Resolves once the look that hangs has reached the peer. */
  readonly untilHanging: () => Promise<void>;
  readonly stop?: () => Promise<void>;
}

/** What every StartedResponses promises (see the port). */
export function describeStartedResponses(name: string, start: () => Promise<StartedKit>): void {
  const started = async () => {
    const kit = await start();
    onTestFinished(async () => kit.stop?.());
    const look = (id: string, signal = never()) => kit.responses.look(id, searchRequest(), signal);
    const endOf = async (id: string) => (await look(id))._unsafeUnwrap().outcome?._unsafeUnwrapErr();
    return { ...kit, look, endOf };
  };

  describe(`${name} as StartedResponses`, () => {
    test('show that a response works, and the number of its searches so far', async () => {
      const { look, ids } = await started();
      expect((await look(ids.working))._unsafeUnwrap()).toEqual({ searches: 1 });
    });

    test('show the reply of a completed response, the same each time', async () => {
      const { look, ids, text } = await started();
      const first = (await look(ids.completed))._unsafeUnwrap();
      expect(first.outcome?._unsafeUnwrap()).toMatchObject({ text, searched: true, calls: [] });
      expect((await look(ids.completed))._unsafeUnwrap()).toEqual(first);
    });

    test('show that a response was cancelled, or has failed', async () => {
      const { endOf, ids } = await started();
      expect(await endOf(ids.cancelled)).toEqual({ kind: 'search_cancelled' });
      expect(await endOf(ids.failed)).toMatchObject({ kind: 'failed' });
    });

    test('say that a response is unknown', async () => {
      const { look, ids } = await started();
      expect(errorOf(await look(ids.unknown))).toEqual({ kind: 'unknown_response' });
    });

    test('say whether a later look may succeed', async () => {
      const { look, ids } = await started();
      expect(errorOf(await look(ids.unreachable))).toMatchObject({ kind: 'not_looked', isPassing: true });
      const error = { kind: 'forbidden' };
      expect(errorOf(await look(ids.forbidden))).toMatchObject({ kind: 'not_looked', isPassing: false, error });
    });

    test('end a look when the signal aborts, and leave no listener', async () => {
      const { look, ids, untilHanging } = await started();
      const controller = new AbortController();
      const aborted = { kind: 'not_looked', error: { kind: 'aborted' }, isPassing: false };
      const outcome = look(ids.hanging, controller.signal);
      await untilHanging();
      controller.abort('some reason');
      expect(errorOf(await outcome)).toEqual(aborted);
      expect(errorOf(await look(ids.completed, controller.signal))).toEqual(aborted);
      expectNoListener(controller.signal);
    });

    test('leave no listener on the signal after a look', async () => {
      const { look, ids } = await started();
      const { signal } = new AbortController();
      await look(ids.completed, signal);
      await look(ids.unreachable, signal);
      expectNoListener(signal);
    });

    test('cancel a response that works', async () => {
      const { responses, endOf, ids } = await started();
      await responses.cancel(ids.working);
      expect(await endOf(ids.working)).toEqual({ kind: 'search_cancelled' });
    });

    test('leave a response as it is that has ended, and cancel an unknown one without an error', async () => {
      const { responses, look, ids } = await started();
      await responses.cancel(ids.completed);
      await responses.cancel(ids.unknown);
      expect((await look(ids.completed))._unsafeUnwrap().outcome?.isOk()).toBe(true);
    });
  });
}
