import { expect, test } from 'vitest';
import { createRedactor } from '../../../src/domain/values/redaction.ts';
import { learnPassing } from '../../../src/wiring/logins.ts';

test('the secrets of the latest sign-ins are masked, and strangers cannot make log lines slow with others', () => {
  const redactor = createRedactor();
  const learn = learnPassing(redactor);
  const secretOf = (count: number) => `state-of-the-sign-in-${count}`;
  for (let count = 0; count < 500; count += 1) learn([secretOf(count)]);
  const shown = Array.from({ length: 500 }, (_, count) => redactor.inLogs(secretOf(count)));
  const isMasked = shown.map((text, count) => text !== secretOf(count));
  expect(isMasked.slice(400)).toEqual(Array.from({ length: 100 }, () => true));
  expect(isMasked.filter(Boolean).length).toBeLessThan(250);
});
