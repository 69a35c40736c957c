import { ok } from 'neverthrow';
import { expect, test } from 'vitest';
import type { Application } from '../../../src/application/application.ts';
import { NEVER } from '../../../src/application/deadline.ts';
import { type ComposedApplication, LazyApplication } from '../../../src/application/lazy-application.ts';
import { ANSWER, answers, FakeApplication } from '../../support/fake-application.ts';

const INPUT = {
  caller: 'a',
  tool: 'answer',
  args: { query: 'Why?' },
  observer: { onProgress: () => {} },
} as const;

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
  expect(await Promise.all([lazy.answerQuery(INPUT, NEVER), lazy.answerQuery(INPUT, NEVER)])).toEqual([
    ok(ANSWER),
    ok(ANSWER),
  ]);
  expect(loads).toHaveLength(1);
});

test('fails for those who asked if it cannot be created, and is created again at the next use', async () => {
  const loads = [
    async () => Promise.reject(new Error('no file')),
    async () => composed(new FakeApplication(answers())),
  ];
  const lazy = new LazyApplication(async () => loads.shift()?.() ?? expect.fail('it was loaded too often'));
  const failed = lazy.answerQuery(INPUT, NEVER);
  await expect(failed).rejects.toThrow('no file');
  expect(await lazy.answerQuery(INPUT, NEVER)).toEqual(ok(ANSWER));
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
  await lazy.answerQuery(INPUT, NEVER);
  await lazy.close();
  expect(closed).toBe(1);
});
