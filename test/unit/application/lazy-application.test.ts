import { ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { LazyApplication } from '../../../src/application/lazy-application.ts';
import { ANSWER, answers, FakeApplication } from '../../support/fake-application.ts';

const INPUT = {
  requestKey: 'a/1',
  caller: 'a',
  tool: 'answer',
  args: { query: 'Why?' },
  observer: { onProgress: () => {} },
} as const;
const CANCEL = { requestKey: 'a/1' } as const;
const never = () => new AbortController().signal;

test('is created once, at its first use', async () => {
  const loads: FakeApplication[] = [];
  const lazy = new LazyApplication(async () => {
    loads.push(new FakeApplication(answers(), answers()));
    return loads[0] as FakeApplication;
  });
  expect(loads).toHaveLength(0);
  expect(await Promise.all([lazy.answerQuery(INPUT, never()), lazy.answerQuery(INPUT, never())])).toEqual([
    ok(ANSWER),
    ok(ANSWER),
  ]);
  expect(loads).toHaveLength(1);
});

test('a cancellation on the next line reaches the application after its question', async () => {
  const order: string[] = [];
  const asked = async () => {
    order.push('asked');
    return ok(ANSWER);
  };
  const application = new FakeApplication(asked, asked);
  application.cancelRequest = () => order.push('cancelled');
  const lazy = new LazyApplication(async () => application);
  const first = lazy.answerQuery(INPUT, never());
  lazy.cancelRequest(CANCEL);
  const second = lazy.answerQuery(INPUT, never());
  await Promise.all([first, second]);
  expect(order).toEqual(['asked', 'cancelled', 'asked']);
});

test('fails for those who asked if it cannot be created, and is created again at the next use', async () => {
  const loads = [async () => Promise.reject(new Error('no file')), async () => new FakeApplication(answers())];
  const lazy = new LazyApplication(async () => loads.shift()?.() ?? expect.fail('it was loaded too often'));
  const failed = lazy.answerQuery(INPUT, never());
  lazy.cancelRequest(CANCEL);
  await expect(failed).rejects.toThrow('no file');
  expect(await lazy.answerQuery(INPUT, never())).toEqual(ok(ANSWER));
});

test('is called at once after it was created', async () => {
  const application = new FakeApplication(answers(), answers());
  const lazy = new LazyApplication(async () => application);
  await lazy.answerQuery(INPUT, never());
  void lazy.answerQuery(INPUT, never());
  expect(application.asked).toHaveLength(2);
  lazy.cancelRequest(CANCEL);
  expect(application.cancelled).toEqual([CANCEL]);
});

test('is not created for a cancellation', () => {
  const lazy = new LazyApplication(() => expect.fail('it was loaded'));
  lazy.cancelRequest(CANCEL);
});
