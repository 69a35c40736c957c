import { expect, test } from 'vitest';
import { ask, itemsOf, liveTest, MODEL, send, textOf } from './api.ts';
import { askProgram, knownTypes } from './program.ts';

const QUESTION = 'Which versions of Node.js are LTS today? Write the emoji 🟢 before each link, and cite your sources.';

liveTest('wrong-key: a wrong key is a 401', async () => {
  expect((await send('/responses', { model: MODEL, input: 'Hello' }, 'sk-wrong-key')).status).toBe(401);
});

liveTest('unknown-model: a model that does not exist is an error that names it', async () => {
  const { status, json } = await send('/responses', { model: 'gpt-0-no-model', input: 'Hello' });
  expect(status).toBeGreaterThanOrEqual(400);
  expect(JSON.stringify(json)).toMatch(/model_not_found|gpt-0-no-model/);
});

liveTest('too-long: a text of more than 10,485,760 characters is a 400 about its length', async () => {
  const { status, json } = await send('/responses', { model: MODEL, input: 'a'.repeat(10_485_761) });
  expect(status).toBe(400);
  expect(JSON.stringify(json)).toMatch(/string_above_max_length|too long/);
});

for (const tool of ['answer', 'answer_detailed', 'answer_quick'])
  liveTest(`${tool}: its profile searches and cites, and the API accepts all of it`, async () => {
    const { code, json } = await askProgram([`--tool=${tool}`, QUESTION], { MODEL_PROFILES: 'tuned' });
    expect(code).toBe(0);
    expect(json.used_search).toBe(true);
    expect(json.citations.length).toBeGreaterThan(0);
  });

liveTest('citations, ranges, sources, live-search: an answer has what the program reads', async () => {
  const response = await ask(QUESTION);
  const { text, annotations } = textOf(response);
  expect(annotations.length).toBeGreaterThan(0);
  const points = [...text];
  for (const { type, url, title, start_index, end_index, ...rest } of annotations) {
    expect({ type, url, title }).toEqual({
      type: 'url_citation',
      url: expect.stringMatching(/^https?:/),
      title: expect.stringMatching(/./),
    });
    expect(rest).toEqual({});
    // Counted in code points: an emoji is one.
    expect(points.slice(start_index, end_index).join('')).toContain(url.replace(/[?#].*/s, ''));
  }
  const searches = itemsOf(response, 'web_search_call').filter(({ action }) => action.type === 'search');
  expect(searches.length).toBeGreaterThan(0);
  for (const { action } of searches) expect(action.sources[0].url ?? action.sources[0].name).toMatch(/./);
  expect(JSON.stringify(response.tools)).not.toContain('"external_web_access":false');
});

liveTest('cached-search: external_web_access: false is accepted, and no page is opened', async () => {
  const response = await ask(QUESTION, {}, { external_web_access: false });
  expect(JSON.stringify(itemsOf(response, 'web_search_call'))).not.toContain('"open_page"');
  expect(response.tools[0].external_web_access).toBe(false);
});

liveTest('user-location: a city is accepted, and repeated', async () => {
  const response = await ask('What is the weather?', {}, { user_location: { type: 'approximate', city: 'Tokyo' } });
  expect(response.tools[0].user_location.city).toBe('Tokyo');
});

liveTest('search-required: tool_choice with the type web_search forces a search', async () => {
  const response = await ask('How much is 2 + 2?', { tool_choice: { type: 'web_search' } });
  expect(itemsOf(response, 'web_search_call').length).toBeGreaterThan(0);
});

liveTest('blocked-domains: no source is of a blocked host', async () => {
  const response = await ask(QUESTION, {}, { filters: { blocked_domains: ['nodejs.org'] } });
  expect(JSON.stringify(response.output)).toContain('"sources":[{');
  expect(JSON.stringify(response.output)).not.toMatch(/"url":"https?:\/\/(?:[\w-]+\.)*nodejs\.org/);
});

for (const tier of ['flex', 'priority'])
  liveTest(`tier-${tier}: the service tier is accepted and used`, async () => {
    expect((await ask('How much is 2 + 2?', { service_tier: tier })).service_tier).toBe(tier);
  });

liveTest('parameters: the default model accepts every optional parameter', async () => {
  const tool = { user_location: { type: 'approximate', country: 'JP' }, return_token_budget: 'default' };
  const response = await ask(
    'How much is 2 + 2?',
    {
      service_tier: 'default',
      reasoning: { effort: 'low', mode: 'standard' },
      text: { verbosity: 'low' },
      max_output_tokens: 16_000,
      max_tool_calls: 3,
    },
    tool,
  );
  expect(response.status).toBe('completed');
});

liveTest('shapes: every type of event and item is one that the replies of this repository have', async () => {
  const { json: events } = await send('/responses', {
    model: MODEL,
    input: QUESTION,
    store: false,
    stream: true,
    tools: [{ type: 'web_search' }],
  });
  const types = new Set(JSON.stringify(events).match(/(?<="type":")[\w.]+/g));
  expect([...types].filter((type) => !knownTypes().has(type))).toEqual([]);
});

liveTest('readable-pages: most cited pages can be read', async () => {
  const { json } = await askProgram([QUESTION], { CHECK_CITATIONS: 'links' });
  const states = JSON.stringify(json.report).match(/(?<="state":")\w+/g) ?? [];
  expect(states.filter((state) => state === 'ok').length).toBeGreaterThan(states.length / 2);
});

test('the types of the replies of this repository are found', () => {
  expect([...knownTypes()]).toEqual(expect.arrayContaining(['response.completed', 'web_search_call']));
});
