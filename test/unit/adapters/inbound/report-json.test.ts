import { expect, test } from 'vitest';
import { toReportJson } from '../../../../src/adapters/inbound/report-json.ts';

test('a complete report', () => {
  const report = {
    model: 'gpt-5.2-2025-12-11',
    responseId: 'resp_1',
    serviceTier: 'flex',
    usage: { inputTokens: 1, cachedTokens: 2, cacheWriteTokens: 5, outputTokens: 3, reasoningTokens: 4 },
    dates: [{ url: 'https://a.example/', origin: 'page' as const }],
    queries: ['q'],
    searches: 1,
    attempts: 2,
    seconds: 2,
  };
  expect(toReportJson(report)).toEqual({
    model: 'gpt-5.2-2025-12-11',
    response_id: 'resp_1',
    service_tier: 'flex',
    usage: { input_tokens: 1, cached_tokens: 2, output_tokens: 3, reasoning_tokens: 4, cache_write_tokens: 5 },
    dates: [{ url: 'https://a.example/', origin: 'page' }],
    searches: { count: 1, queries: ['q'] },
    attempts: 2,
    seconds: 2,
  });
});

test('texts of the API in it have a limited length, and do not control the terminal', () => {
  const text = `a\u001B[31m\u009B7m\u202E\n${'x'.repeat(1000)}`;
  const queries = Array.from({ length: 2000 }, () => text);
  const report = { model: text, responseId: text, serviceTier: text, queries, searches: 2000, attempts: 1, seconds: 1 };
  const short = `a ${'x'.repeat(197)}…`;
  expect(toReportJson(report)).toMatchObject({
    model: short,
    response_id: short,
    service_tier: short,
    searches: { count: 2000, queries: Array.from({ length: 50 }, () => short) },
  });
});

test('the report of a grounded answer: its rounds and calls, and the servers that were missing', () => {
  const toolCalls = [
    { server: 'jira', tool: 'search', ms: 1234.567, ok: true },
    { server: 'jira', tool: 'a\u202E\nb', ms: 0.4, ok: false },
  ];
  const report = {
    queries: [],
    searches: 0,
    attempts: 2,
    seconds: 1,
    rounds: 2,
    toolCalls,
    unavailableServers: ['wiki', 'notes'],
    loginRequired: ['notes'],
  };
  expect(toReportJson(report)).toEqual({
    searches: { count: 0, queries: [] },
    attempts: 2,
    seconds: 1,
    rounds: 2,
    tool_calls: [
      { server: 'jira', tool: 'search', ms: 1235, ok: true },
      { server: 'jira', tool: 'a b', ms: 0, ok: false },
    ],
    unavailable_servers: ['wiki', 'notes'],
    login_required: ['notes'],
  });
});

test('the report of an answer that takes minutes: its state and its handle, and neither in another', () => {
  const report = { queries: [], searches: 3, attempts: 1, seconds: 300 };
  const json = '{"searches":{"count":3,"queries":[]},"attempts":1,"seconds":300';
  expect(JSON.stringify(toReportJson(report))).toBe(`${json}}`);
  const unfinished = toReportJson({ ...report, state: 'unfinished', handle: 'la1.d.resp_1.x' });
  expect(JSON.stringify(unfinished)).toBe(`${json},"state":"unfinished","handle":"la1.d.resp_1.x"}`);
});
