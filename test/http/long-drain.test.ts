import { expect, test } from 'vitest';
import { detailed, serveLong } from './serve-long.ts';

const JSON_ONLY = { Accept: 'application/json' };
const REPORT = 'io.github.uchimanajet7.openai-responses-mcp/report';

test('at the end of a drain, a call whose response is known gets a handle, and its search continues', async () => {
  const { begin, api, clock, server, accessLines } = await serveLong();
  const call = begin(detailed('Why?'), JSON_ONLY);
  await expect.poll(() => api.posts).toHaveLength(1);
  const drained = server.drain();
  await clock.advance(25_000);
  const { status, message } = await call.reply;
  expect(status).toBe(200);
  expect(message.result?._meta).toMatchObject({ [REPORT]: { state: 'unfinished', handle: expect.any(String) } });
  await drained;
  expect(accessLines.at(-1)).toMatchObject({ status: 200, outcome: 'unfinished' });
  expect(api.cancels).toEqual([]);
});

test('a call that has no handle fails at the end of a drain, while another gets one', async () => {
  const { begin, api, llmSearch, clock, server } = await serveLong();
  const short = begin({ ...detailed('Short?'), params: { name: 'answer', arguments: { query: 'Short?' } } }, JSON_ONLY);
  const long = begin(detailed('Long?'), JSON_ONLY);
  await expect.poll(() => [...api.posts, ...llmSearch.requests]).toHaveLength(2);
  const drained = server.drain();
  await clock.advance(25_000);
  expect((await long.reply).status).toBe(200);
  await clock.advance(500);
  expect((await short.reply).status).toBe(503);
  await drained;
});
