import { expect, test, vi } from 'vitest';
import { send } from '../support/http-client.ts';
import { serveHttp } from './serve-http.ts';
import { detailed, serveLong, TIMEOUT_MS } from './serve-long.ts';

const JSON_ONLY = { Accept: 'application/json' };

async function metricsOf(at: (path: string) => string): Promise<Record<string, number>> {
  const { text } = await send(at('/metrics'), { method: 'GET' });
  const samples = text.matchAll(/^openai_responses_mcp_((?:long|calls_total|searches)\S*) (\S+)$/gm);
  return Object.fromEntries(
    [...samples].map(([, name, value]) => [name, Number(value)] as const).filter(([, n]) => n > 0),
  );
}

test('counts searches that take minutes, without handles and IDs', async () => {
  const { api, at, begin, post, clock, accessLines, untilLogged } = await serveLong();
  const asked = async (query: string, count: number) => {
    const call = begin(detailed(query), JSON_ONLY);
    await vi.waitFor(() => expect(api.posts).toHaveLength(count));
    return call;
  };
  const left = await asked('Left?', 1);
  left.leave();
  await untilLogged(1);
  expect(accessLines.at(-1)).toMatchObject({ status: 499, outcome: 'detached' });
  expect(await metricsOf(at)).toEqual({
    'calls_total{tool="answer_detailed",outcome="detached"}': 1,
    'long_answers{state="working"}': 1,
    'long_answers_detached_total{cause="disconnect"}': 1,
  });
  api.finish('resp_1');

  const unfinished = await asked('Unfinished?', 2);
  await clock.advance(TIMEOUT_MS);
  const { text, message } = await unfinished.reply;
  const [handle = ''] = /la1\.[\w.-]+/.exec(text) ?? [];
  expect(message.result).toBeDefined();
  const joined = begin(detailed('Unfinished?'), JSON_ONLY);
  await vi.waitFor(async () =>
    expect((await send(at('/metrics'), { method: 'GET' })).text).toContain('calls_in_flight 1'),
  );
  api.finish('resp_2');
  await joined.reply;
  await post(detailed('Unfinished?'), JSON_ONLY);
  await post(detailed(handle), JSON_ONLY);

  await asked('Failed?', 3).then((call) => {
    api.fail('resp_3', { kind: 'content_filtered' });
    return call.reply;
  });
  (await asked('Expired?', 4)).leave();
  await untilLogged(9);
  await begin(detailed('Expired?'), JSON_ONLY);
  await vi.waitFor(async () =>
    expect((await send(at('/metrics'), { method: 'GET' })).text).toContain('calls_in_flight 1'),
  );
  await clock.advance(3_600_000);
  const metrics = await metricsOf(at);
  expect(metrics).toMatchObject({
    'long_answers_total{outcome="completed"}': 2,
    'long_answers_total{outcome="failed"}': 1,
    'long_answers_total{outcome="expired"}': 1,
    'long_answers_detached_total{cause="disconnect"}': 2,
    'long_answers_detached_total{cause="unfinished"}': 2,
    'long_answers_returned_total{how="joined"}': 1,
    'long_answers_returned_total{how="kept"}': 1,
    'long_answers_returned_total{how="handle"}': 1,
  });
  expect(metrics).not.toHaveProperty('long_answers{state="working"}');
  const shown = (await send(at('/metrics'), { method: 'GET' })).text + JSON.stringify(accessLines);
  expect(shown).not.toMatch(/la1\.|resp_/);
});

test('without answers that take minutes, nothing about them is registered', async () => {
  const { at } = await serveHttp();
  expect((await send(at('/metrics'), { method: 'GET' })).text).not.toContain('long_answers');
});
