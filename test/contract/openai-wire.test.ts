import nock from 'nock';
import { expect, onTestFinished, test, vi } from 'vitest';
import { responseBody } from '../support/api-response.ts';
import { says } from '../support/conversation-items.ts';
import { nockPerTest } from './nock-kit.ts';
import { API_KEY, type Asked, ask, openAiSearch, searchRequest } from './search-kit.ts';

nockPerTest();

/** The only request for a question. */
async function sentFor(asked: Asked = {}) {
  const sent: { readonly headers: Readonly<Record<string, unknown>>; readonly body: string }[] = [];
  nock('https://api.example.test')
    .post('/v1/responses')
    .reply(200, responseBody({ items: [says('1', 'Hello.')] }, { body: {}, number: 1 }))
    .on('request', ({ headers }, _, body: string) => sent.push({ headers, body }));
  const search = openAiSearch('https://api.example.test/v1', { fetch: globalThis.fetch });
  expect((await ask(search, searchRequest(asked))).isOk()).toBe(true);
  const [only] = sent;
  if (only === undefined) throw new Error('Nothing was sent.');
  return only;
}

// S35
test('the request on the wire is exactly these bytes', async () => {
  const { body } = await sentFor({ question: { domains: ['jma.go.jp', 'tenki.jp'] } });
  expect(body).toBe(
    '{"model":"gpt-5.2","instructions":"Answer well.",' +
      '"input":"What is new in Node.js 24?\\n\\n' +
      '[Search hints] recency_days=60; max_results=5; domains=jma.go.jp, tenki.jp\\n' +
      '[Today] 2026-11-21 (Asia/Tokyo)",' +
      // Without a location, the API searches as if the user were in the United States.
      '"tools":[{"type":"web_search","user_location":{"type":"approximate"}}],"include":["web_search_call.action.sources"],' +
      '"text":{"verbosity":"medium"},"reasoning":{"effort":"medium"},"store":false,"stream":true}',
  );
});

test('its headers have the key, and no organization or project, not even from the variables of the package', async () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv('OPENAI_ORG_ID', 'org-of-the-shell');
  vi.stubEnv('OPENAI_PROJECT_ID', 'proj-of-the-shell');
  const { headers } = await sentFor();
  expect(headers).toMatchObject({ authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' });
  expect(JSON.stringify(headers)).not.toContain('of-the-shell');
});

// S33
test('the hints are sent as given, and domains only if there are any', async () => {
  const question = { query: '今日の天気は？ 🌤️', recencyDays: 0, maxResults: 12, domains: [] };
  expect(JSON.parse((await sentFor({ question, today: '2026-01-02' })).body).input).toBe(
    '今日の天気は？ 🌤️\n\n[Search hints] recency_days=0; max_results=12\n[Today] 2026-01-02 (Asia/Tokyo)',
  );
});
