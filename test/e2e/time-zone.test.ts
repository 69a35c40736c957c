import { expect, test } from 'vitest';
import { answers } from '../support/behaviours.ts';
import { answerOf, serve, serveWithApi } from './serve.ts';

const ZONE = 'America/Argentina/Buenos_Aires';
const CITED = { citations: [{ url: 'https://a.example/', title: 'A' }] };

/** Days in a zone may change during the test. */
function todayIn(timeZone: string): string {
  return new Intl.DateTimeFormat('sv-SE', { timeZone }).format(new Date());
}

test.each([
  ['Pacific/Kiritimati', 'Pacific/Kiritimati'],
  ['Pacific/Pago_Pago', 'Pacific/Pago_Pago'],
  ['', 'Asia/Tokyo'],
])('TIME_ZONE=%s: today, the day of access and the policy are those of %s', async (variable, zone) => {
  const { api, server } = await serveWithApi({ env: { TIME_ZONE: variable } });
  api.reply(answers('Sunny.', CITED));
  await server.initialize();
  const before = todayIn(zone);
  const { citations, answer } = answerOf(await server.callTool('answer', { query: 'Weather?' }));
  const days = [before, todayIn(zone)];
  expect(days).toContain(citations[0]?.published_at);
  expect(answer).toContain(`- https://a.example/ (${citations[0]?.published_at})`);
  const { input, instructions } = api.requests[0]?.body ?? {};
  expect(String(input)).toContain(`[Today] ${citations[0]?.published_at} (${zone})`);
  expect(String(instructions)).toContain(`in ${zone}.`);
  if (zone !== 'Asia/Tokyo') expect(api.requests[0]?.rawBody).not.toContain('Tokyo');
});

test('the list of tools names the zone, and stays below 5 kB', async () => {
  const server = serve({ env: { TIME_ZONE: ZONE } });
  await server.initialize();
  const response = await server.request('tools/list');
  const json = JSON.stringify(response);
  expect(json).toContain(`such as \\"today\\" are in ${ZONE}.`);
  expect(json).toContain(`day of access in ${ZONE}, unless citations.resolve_dates found the day of publication`);
  expect(json).not.toContain('Tokyo');
  expect(Buffer.byteLength(json)).toBeLessThan(5000);
});

test('each field of the output has a description (A14)', async () => {
  const server = serve();
  await server.initialize();
  const { tools } = (await server.request('tools/list')).result as { readonly tools: readonly Tool[] };
  const [tool] = tools;
  const { answer, used_search, citations, model } = tool?.outputSchema.properties ?? {};
  const { url, title, published_at } = citations?.items?.properties ?? {};
  for (const field of [answer, used_search, citations, model, url, title]) expect(field?.description).toMatch(/\w{3}/);
  expect(published_at?.description).toBe(
    'day of access in Asia/Tokyo, unless citations.resolve_dates found the day of publication',
  );
});

interface Field {
  readonly description?: string;
  readonly items?: { readonly properties?: Readonly<Record<string, Field>> };
}

interface Tool {
  readonly outputSchema: { readonly properties: Readonly<Record<string, Field>> };
}
