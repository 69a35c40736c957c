import { ok } from 'neverthrow';
import { expect, test } from 'vitest';
import type { Application } from '../../../src/application/application.ts';
import { type ComposedApplication, LazyApplication } from '../../../src/application/lazy-application.ts';
import { ANSWER, answers, FakeApplication } from '../../support/fake-application.ts';

const INPUT = {
  requestKey: 'a/1',
  caller: 'a',
  tool: 'answer',
  args: { query: 'Why?' },
  observer: { onProgress: () => {} },
} as const;
const CANCEL = { requestKey: 'a/1' } as const;

function composed(application: Application, close = async () => {}): ComposedApplication {
  return { application, close };
}

test('is created once, at its first use', async () => {
  const loads: FakeApplication[] = [];
  const lazy = new LazyApplication(async () => {
    loads.push(new FakeApplication(answers(), answers()));
    return composed(loads[0] as FakeApplication);
  });
  expect(loads).toHaveLength(0);
  expect(await Promise.all([lazy.answerQuery(INPUT), lazy.answerQuery(INPUT)])).toEqual([ok(ANSWER), ok(ANSWER)]);
  expect(loads).toHaveLength(1);
});

test.each(['before', 'after'])(
  '%s it was created, a cancellation on the next line reaches the application after its question',
  async (when) => {
    const order: string[] = [];
    const asked = async () => {
      order.push('asked');
      return ok(ANSWER);
    };
    const application = new FakeApplication(...(when === 'after' ? [answers()] : []), asked, asked);
    application.cancelRequest = () => order.push('cancelled');
    const lazy = new LazyApplication(async () => composed(application));
    if (when === 'after') await lazy.answerQuery(INPUT);
    const first = lazy.answerQuery(INPUT);
    lazy.cancelRequest(CANCEL);
    const second = lazy.answerQuery(INPUT);
    await Promise.all([first, second]);
    expect(order).toEqual(['asked', 'cancelled', 'asked']);
  },
);

test('fails for those who asked if it cannot be created, and is created again at the next use', async () => {
  const loads = [
    async () => Promise.reject(new Error('no file')),
    async () => composed(new FakeApplication(answers())),
  ];
  const lazy = new LazyApplication(async () => loads.shift()?.() ?? expect.fail('it was loaded too often'));
  const failed = lazy.answerQuery(INPUT);
  lazy.cancelRequest(CANCEL);
  await expect(failed).rejects.toThrow('no file');
  expect(await lazy.answerQuery(INPUT)).toEqual(ok(ANSWER));
});

test('is not created for a cancellation', () => {
  const lazy = new LazyApplication(() => expect.fail('it was loaded'));
  lazy.cancelRequest(CANCEL);
});

test('closes what was composed, and nothing if it was never used', async () => {
  let closed = 0;
  const lazy = new LazyApplication(async () =>
    composed(new FakeApplication(answers()), async () => {
      closed += 1;
    }),
  );
  await lazy.close();
  expect(closed).toBe(0);
  await lazy.answerQuery(INPUT);
  await lazy.close();
  expect(closed).toBe(1);
});
