import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { InFlightRequests } from '../../../src/application/in-flight-requests.ts';
import { never } from '../../support/core.ts';
import { deferred } from '../../support/fake-llm-search.ts';

test('a request is registered before its work starts', async () => {
  const requests = new InFlightRequests();
  await requests.run('a', never(), async () => expect(requests.cancel('a')).toBe(true));
});

test('a request is registered until its work ends', async () => {
  const requests = new InFlightRequests();
  const work = deferred<string>();
  const running = requests.run('a', never(), () => work.promise);
  expect(requests.cancel('b')).toBe(false);
  expect(requests.cancel('a')).toBe(true);
  work.settle('done');
  expect(await running).toBe('done');
  expect(requests.cancel('a')).toBe(false);
});

describe('the reason of an abort', () => {
  const reasonOf = async (abort: (requests: InFlightRequests, controller: AbortController) => void) => {
    const requests = new InFlightRequests();
    return requests.run('a', never(), async (controller) => {
      abort(requests, controller);
      return controller.signal.reason;
    });
  };

  test('is the cancellation', async () => {
    expect(await reasonOf((requests) => requests.cancel('a'))).toBe('cancelled');
  });

  test('is the first of two', async () => {
    expect(
      await reasonOf((requests, controller) => {
        controller.abort('timed_out');
        requests.cancel('a');
      }),
    ).toBe('timed_out');
  });

  test('is a cancellation if the signal of the caller aborts, now or earlier', async () => {
    const caller = new AbortController();
    const requests = new InFlightRequests();
    const reasons = [caller.signal, AbortSignal.abort('something else')].map((signal) =>
      requests.run(String(signal.aborted), signal, async (controller) => {
        caller.abort();
        return controller.signal.reason;
      }),
    );
    expect(await Promise.all(reasons)).toEqual(['cancelled', 'cancelled']);
  });
});

test.each([
  ['done', () => Promise.resolve()],
  ['broken', () => Promise.reject(new Error('a bug'))],
])('work that is %s leaves no listener and no key', async (_, work) => {
  const requests = new InFlightRequests();
  const signal = never();
  await requests.run('a', signal, work).catch(() => {});
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  expect(requests.cancel('a')).toBe(false);
});

test('the end of one request does not remove another with the same key', async () => {
  const requests = new InFlightRequests();
  const work = deferred<void>();
  const first = requests.run('a', never(), async () => {});
  const second = requests.run('a', never(), () => work.promise);
  await first;
  expect(requests.cancel('a')).toBe(true);
  work.settle();
  await second;
});
