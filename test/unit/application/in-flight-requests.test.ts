import { describe, expect, test } from 'vitest';
import { InFlightRequests } from '../../../src/application/in-flight-requests.ts';
import { deferred } from '../../support/fake-llm-search.ts';

/** Work that ends with its controller's reason as soon as `ended` settles. */
function startedWork(requests: InFlightRequests, key: string) {
  const ended = deferred<void>();
  const running = requests.run(key, async ({ signal }) => {
    await ended.promise;
    return signal.reason;
  });
  const end = () => {
    ended.settle();
    return running;
  };
  return { end };
}

test('a request is registered before its work starts', async () => {
  const requests = new InFlightRequests();
  await requests.run('a', async ({ signal }) => {
    requests.cancel('a');
    expect(signal.reason).toBe('cancelled');
  });
});

test('only the request with that key is aborted', async () => {
  const requests = new InFlightRequests();
  const work = startedWork(requests, 'a');
  requests.cancel('b');
  expect(await work.end()).toBeUndefined();
});

test('of two causes of an abort, the first wins', async () => {
  const requests = new InFlightRequests();
  await requests.run('a', async (controller) => {
    controller.abort('timed_out');
    requests.cancel('a');
    expect(controller.signal.reason).toBe('timed_out');
  });
});

describe('a key is free again', () => {
  test.each([
    ['resolved', () => Promise.resolve()],
    ['rejected', () => Promise.reject(new Error('a bug'))],
  ])('after work that %s', async (_, work) => {
    const requests = new InFlightRequests();
    let signal: AbortSignal | undefined;
    await requests
      .run('a', (controller) => {
        signal = controller.signal;
        return work();
      })
      .catch(() => {});
    requests.cancel('a');
    expect(signal?.aborted).toBe(false);
  });
});

test('the end of one request does not remove another with the same key', async () => {
  const requests = new InFlightRequests();
  const first = startedWork(requests, 'a');
  const second = startedWork(requests, 'a');
  await first.end();
  requests.cancel('a');
  expect(await second.end()).toBe('cancelled');
});
