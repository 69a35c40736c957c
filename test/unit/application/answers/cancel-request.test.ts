import { expect, test } from 'vitest';
import { type Cancellable, CancelRequest } from '../../../../src/application/answers/cancel-request.ts';

function begun(requests: CancelRequest<string, Cancellable<string>>, id: string) {
  const request = { id, controller: new AbortController() };
  requests.begin(request);
  return { request, isCancelled: () => request.controller.signal.aborted };
}

test('only the request with that ID is cancelled, with the reason, and an unknown one is ignored', () => {
  const requests = new CancelRequest<string, Cancellable<string>>();
  const [one, two] = [begun(requests, 'a'), begun(requests, 'b')];
  requests.execute('b', 'a reason');
  requests.execute('c');
  expect([one.isCancelled(), two.isCancelled()]).toEqual([false, true]);
  expect(two.request.controller.signal.reason).toBe('a reason');
  expect(requests.inFlight).toEqual([one.request]);
});

test('a cancelled request is no longer in flight', () => {
  const requests = new CancelRequest<string, Cancellable<string>>();
  const { request } = begun(requests, 'a');
  expect([requests.has('a'), requests.holds(request)]).toEqual([true, true]);
  requests.execute('a');
  expect([requests.has('a'), requests.holds(request), requests.end(request)]).toEqual([false, false, false]);
});

test('a request that has ended cannot be cancelled', () => {
  const requests = new CancelRequest<string, Cancellable<string>>();
  const { request, isCancelled } = begun(requests, 'a');
  expect(requests.end(request)).toBe(true);
  requests.execute('a');
  expect(isCancelled()).toBe(false);
});

test('the end of a cancelled request does not end another one with the same ID', () => {
  const requests = new CancelRequest<string, Cancellable<string>>();
  const first = begun(requests, 'a');
  requests.execute('a');
  const second = begun(requests, 'a');
  expect(requests.end(first.request)).toBe(false);
  requests.execute('a');
  expect(second.isCancelled()).toBe(true);
});
