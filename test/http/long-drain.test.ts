import { describe, expect, test, vi } from 'vitest';
import { begin } from '../support/http-client.ts';
import { detailed, serveLong } from './serve-long.ts';

const JSON_ONLY = { Accept: 'application/json' };
const REPORT = 'io.github.uchimanajet7.openai-responses-mcp/report';

describe('at the end of a drain, a call whose search is known', () => {
  test('gets a handle over MCP, and its search continues', async () => {
    const { begin, api, clock, server, accessLines, searches } = await serveLong();
    const call = begin(detailed('Why?'), JSON_ONLY);
    await vi.waitFor(() => expect(api.posts).toHaveLength(1));
    const drained = server.drain();
    await clock.advance(25_000);
    const { status, message } = await call.reply;
    expect(status).toBe(200);
    expect(message.result?._meta).toMatchObject({ [REPORT]: { state: 'unfinished', handle: expect.any(String) } });
    await drained;
    expect(accessLines.at(-1)).toMatchObject({ status: 200, outcome: 'unfinished' });
    searches.close();
    expect(api.cancels).toEqual([]);
  });

  test('gets a handle over REST', async () => {
    const { at, api, clock, server } = await serveLong();
    const call = begin(at('/mcp/tools/openai-responses-mcp/answer_detailed'), { body: { query: 'Why?' } });
    await vi.waitFor(() => expect(api.posts).toHaveLength(1));
    const drained = server.drain();
    await clock.advance(25_000);
    const { status, text } = await call.reply;
    expect(status).toBe(200);
    expect(text).toContain('not finished');
    await drained;
  });
});

test('at the end of a drain, other calls fail as before', async () => {
  const { begin, api, clock, server, accessLines } = await serveLong();
  api.createsAtOnce = false;
  const unknown = begin(detailed('Why?'), JSON_ONLY);
  await vi.waitFor(() => expect(api.posts).toHaveLength(1));
  const drained = server.drain();
  await clock.advance(25_000);
  expect((await unknown.reply).status).toBe(503);
  await drained;
  expect(api.cancels).toEqual(['resp_1']);
  expect(accessLines.at(-1)).toMatchObject({ status: 503, outcome: 'shutting_down' });
});

test('a call that has no handle fails at the end of a drain, while another gets one', async () => {
  const { begin, api, llmSearch, clock, server } = await serveLong();
  const short = begin({ ...detailed('Short?'), params: { name: 'answer', arguments: { query: 'Short?' } } }, JSON_ONLY);
  const long = begin(detailed('Long?'), JSON_ONLY);
  await vi.waitFor(() => expect([...api.posts, ...llmSearch.requests]).toHaveLength(2));
  const drained = server.drain();
  await clock.advance(25_000);
  expect((await long.reply).status).toBe(200);
  await clock.advance(500);
  expect((await short.reply).status).toBe(503);
  await drained;
});
