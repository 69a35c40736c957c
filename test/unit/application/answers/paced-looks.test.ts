import { ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { PacedLooks } from '../../../../src/application/answers/paced-looks.ts';
import { collectGarbage } from '../../../support/collect-garbage.ts';
import { never } from '../../../support/core.ts';
import { FakeClock, settled } from '../../../support/fake-clock.ts';
import { FakeLongApi } from '../../../support/fake-long-api.ts';

const asked = { profile: { model: 'gpt-5.2' }, timeZone: 'Asia/Tokyo' };
const ids = Array.from({ length: 150 }, (_, number) => `resp_${number}`);

test('each of many responses is looked at once in two seconds', async () => {
  const api = new FakeLongApi();
  const paced = new PacedLooks(api, api.clock);
  for (let round = 0; round < 3; round += 1) for (const id of ids) await paced.look(id, asked, never());
  expect(api.looks).toHaveLength(ids.length);
  await api.clock.advance(2000);
  for (const id of ids) await paced.look(id, asked, never());
  expect(api.looks).toHaveLength(2 * ids.length);
});

test('what a look has shown is not held for longer, whether or not it has ended', async () => {
  const clock = new FakeClock();
  let shown: WeakRef<object> | undefined;
  const look = async () => {
    const look = { createdAt: clock.now(), state: 'working' as const, searches: 0 };
    shown = new WeakRef(look);
    return ok(look);
  };
  const paced = new PacedLooks({ look, cancel: async () => {} }, clock);
  await paced.look('resp_1', asked, never());
  await clock.advance(2000);
  await settled();
  collectGarbage();
  expect(shown?.deref()).toBeUndefined();
  expect(clock.pendingSleeps).toBe(0);
});

test('after a cancellation, a response is looked at anew, and paced as long as any', async () => {
  const api = new FakeLongApi();
  const paced = new PacedLooks(api, api.clock);
  await paced.look('resp_1', asked, never());
  await paced.cancel('resp_1');
  await api.clock.advance(1000);
  await paced.look('resp_1', asked, never());
  await api.clock.advance(1000);
  await paced.look('resp_1', asked, never());
  expect(api.looks).toHaveLength(2);
});
