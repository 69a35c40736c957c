import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { ask, type Json, liveTest, MODEL, send } from './api.ts';

const LONG = { model: MODEL, input: 'Compare HTTP/2 and HTTP/3 in depth.', background: true, store: false };

async function untilOver(id: string): Promise<Json> {
  while (true) {
    const { json } = await send(`/responses/${id}`);
    if (!/^(?:queued|in_progress)$/.test(json.status)) return json;
    await sleep(5000);
  }
}

liveTest('background-mode: the first event has the ID', async () => {
  const { status, json: events } = await send('/responses', { ...LONG, stream: true });
  expect(status).toBe(200);
  expect(events[0].response).toMatchObject({ id: expect.stringMatching(/./), background: true, store: false });
});

liveTest('get-running, kept: a response can be read while it runs, and after its end', async () => {
  const { json: started } = await send('/responses', LONG);
  expect((await send(`/responses/${started.id}`)).json.status).toMatch(/^(?:queued|in_progress)$/);
  await untilOver(started.id);
  expect((await send(`/responses/${started.id}`)).json.status).toBe('completed');
});

liveTest('cancel: a response ends as cancelled', async () => {
  const { json: started } = await send('/responses', LONG);
  expect((await send(`/responses/${started.id}/cancel`, {})).status).toBe(200);
  expect((await untilOver(started.id)).status).toBe('cancelled');
});

liveTest('stored: a response with store: true can be read', async () => {
  const { id } = await ask('How much is 2 + 2?', { store: true });
  expect((await send(`/responses/${id}`)).status).toBe(200);
});
