import { expect, test } from 'vitest';
import { CancelRequest } from '../../../../src/application/answers/cancel-request.ts';
import { deferred } from '../../../support/fake-llm-search.ts';

/** A request that ends when the test says so, and whether it was cancelled. */
function started(requests: CancelRequest, id: string) {
  const { promise, settle } = deferred<void>();
  const running = requests.run(id, async (signal) => {
    await promise;
    return signal.aborted;
  });
  const end = () => {
    settle();
    return running;
  };
  return { end };
}

test('a request can be cancelled as soon as it runs', async () => {
  const requests = new CancelRequest();
  await requests.run('a', async (signal) => {
    requests.execute('a');
    expect(signal.aborted).toBe(true);
  });
});

test('only the request with that ID is cancelled, and an unknown one is ignored', async () => {
  const requests = new CancelRequest();
  const [one, two] = [started(requests, 'a'), started(requests, 'b')];
  requests.execute('b');
  requests.execute('c');
  expect([await one.end(), await two.end()]).toEqual([false, true]);
});

test('an ID is free again after a request that was rejected', async () => {
  const requests = new CancelRequest();
  let ended: AbortSignal | undefined;
  const failed = requests.run('a', (signal) => {
    ended = signal;
    return Promise.reject(new Error('a bug'));
  });
  await expect(failed).rejects.toThrow('a bug');
  requests.execute('a');
  expect(ended?.aborted).toBe(false);
});

test('the end of one request does not remove another with the same ID', async () => {
  const requests = new CancelRequest();
  const [first, second] = [started(requests, 'a'), started(requests, 'a')];
  await first.end();
  requests.execute('a');
  expect(await second.end()).toBe(true);
});
