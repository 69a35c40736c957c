import { expect, test } from 'vitest';
import { coalesced } from '../../../../src/application/async/coalesced.ts';
import { settled } from '../../../support/fake-clock.ts';

test('runs one task at a time, and once more for any number of requests in the meantime', async () => {
  const running: (() => void)[] = [];
  const request = coalesced(() => new Promise((resolve) => running.push(resolve)));
  request();
  for (let more = 0; more < 5; more += 1) request();
  expect(running).toHaveLength(1);
  running[0]?.();
  await settled();
  expect(running).toHaveLength(2);
  running[1]?.();
  await settled();
  expect(running).toHaveLength(2);
  request();
  expect(running).toHaveLength(3);
});
