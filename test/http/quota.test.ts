import { err, ok } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import { QuotaGuard } from '../../src/application/quota/quota-guard.ts';
import type { QuotaPolicy } from '../../src/domain/values/quota.ts';
import { FakeClock } from '../support/fake-clock.ts';
import {
  type ConfiguredReply,
  deferred,
  FakeLlmSearch,
  hangs,
  replies,
  repliesLate,
  searchReply,
} from '../support/fake-llm-search.ts';
import { FakeQuotaStore } from '../support/fake-quota-store.ts';
import { legacy, modern, type Reply, send } from '../support/http-client.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { ScriptedToolServer, says } from '../support/scripted-tool-server.ts';
import { serveGateway } from './serve-gateway.ts';
import { serveHttp } from './serve-http.ts';

const QUOTA = 'io.github.uchimanajet7.openai-responses-mcp/quota';
const TOKENS = [{ caller: 'alice', token: 'alice-token-0123456789' }];
const ALICE = { Authorization: 'Bearer alice-token-0123456789' };
const USAGE = { inputTokens: 900, cachedTokens: 500, outputTokens: 100, reasoningTokens: 40 };
const COSTLY = replies({ report: { queries: ['a', 'b'], searches: 2, attempts: 1, usage: USAGE } });
const UNAVAILABLE =
  'The quota cannot be checked, because its store is not available. Try again soon; the reason is in the log of the server.';

const question = (id: string | number = 1) => legacy('tools/call', { name: 'answer', arguments: { query: 'q' } }, id);
const json = ({ text }: Reply) => JSON.parse(text) as Record<string, unknown>;
const quotaOf = ({ message }: Reply) => (message.result?._meta as Record<string, unknown> | undefined)?.[QUOTA];

/** Noon in Tokyo. */
function quotaOfPolicy(policy: Partial<QuotaPolicy>, store = new FakeQuotaStore()) {
  const clock = new FakeClock('2026-11-22T03:00:00Z');
  const logger = new RecordingLogger();
  const all = { limits: {}, callers: {}, ...policy };
  return new QuotaGuard({ policy: all, store, onStoreFailure: 'refuse', timeZone: 'Asia/Tokyo', clock, logger });
}

const serveWith = (policy: Partial<QuotaPolicy>, llmSearch: FakeLlmSearch, store?: FakeQuotaStore) =>
  serveHttp({ llmSearch, http: { tokens: TOKENS, quota: quotaOfPolicy(policy, store) } });

async function refusalsOf(at: (path: string) => string, headers = {}): Promise<readonly string[]> {
  const { text } = await send(at('/metrics'), { method: 'GET', headers });
  return [...text.matchAll(/^openai_responses_mcp_quota_refused_total(\S+ \S+)$/gm)].map(([, sample = '']) => sample);
}

describe('over MCP', () => {
  test('a result says what is left', async () => {
    const limits = { calls: 10, searches: 20, tokens: 5000 };
    const { post } = await serveWith({ limits }, new FakeLlmSearch(COSTLY));
    expect(quotaOf(await post(question(), ALICE))).toEqual({
      calls_per_day: { limit: 10, left: 9 },
      searches_per_day: { limit: 20, left: 18 },
      tokens_per_day: { limit: 5000, left: 4000 },
      ends_at: '2026-11-22T15:00:00.000Z',
    });
  });

  test('what is left stands beside the report and the server in the modern era, and in a stream', async () => {
    const { post } = await serveWith({ limits: { calls: 2 } }, new FakeLlmSearch(COSTLY));
    const call = modern('tools/call', { name: 'answer', arguments: { query: 'q' } });
    const reply = await post(call, { ...ALICE, Accept: 'text/event-stream' });
    expect(Object.keys(reply.events[0]?.result?._meta ?? {})).toEqual([
      'io.modelcontextprotocol/serverInfo',
      'io.github.uchimanajet7.openai-responses-mcp/report',
      QUOTA,
    ]);
  });

  // S27
  test('a call beyond the limit gets 429, with the limit and its end', async () => {
    const { post, at, accessLines, untilLogged } = await serveWith({ limits: { calls: 1 } }, new FakeLlmSearch(COSTLY));
    await post(question(), ALICE);
    const refused = await post(question('a1'), ALICE);
    expect(refused.status).toBe(429);
    expect(refused.headers['retry-after']).toBe(String(12 * 3600));
    expect(refused.message).toEqual({
      jsonrpc: '2.0',
      id: 'a1',
      error: {
        code: -32600,
        message:
          'Daily quota reached (calls_per_day: 1). It resets at 2026-11-23 00:00 (Asia/Tokyo); try again after that.',
        data: { limit: 'calls_per_day', max: 1, endsAt: '2026-11-22T15:00:00.000Z' },
      },
    });
    await untilLogged(2);
    expect(accessLines[1]).toMatchObject({
      caller: 'alice',
      status: 429,
      outcome: 'refused',
      reason: 'quota reached: calls_per_day',
    });
    expect(await refusalsOf(at, ALICE)).toEqual(['{limit="calls_per_day"} 1']);
  });

  test('what a search used before it failed is added, and counted by the metrics', async () => {
    const failing: ConfiguredReply = async (observer) => {
      observer.onUsed?.({ usage: USAGE, searches: 1 });
      observer.onUsed?.({ usage: USAGE, searches: 1 });
      return err({ kind: 'no_final_answer', limit: 'rounds', max: 2 });
    };
    const { post, at } = await serveWith({ limits: { tokens: 2000 } }, new FakeLlmSearch(failing));
    await post(question(), ALICE);
    expect((await post(question(), ALICE)).message.error?.data).toMatchObject({ limit: 'tokens_per_day' });
    const { text } = await send(at('/metrics'), { method: 'GET', headers: ALICE });
    expect(text).toContain('openai_responses_mcp_tokens_total{tool="answer",kind="input"} 1800');
    expect(text).toContain('openai_responses_mcp_searches_total{tool="answer"} 2');
  });

  test('what a search used before its client left is added', async () => {
    const leaves: ConfiguredReply = (observer, signal) => {
      observer.onUsed?.({ usage: USAGE });
      observer.onProgress({ kind: 'asking', round: 2 });
      return hangs(observer, signal);
    };
    const { begin, post, untilLogged } = await serveWith({ limits: { tokens: 900 } }, new FakeLlmSearch(leaves));
    const left = begin(legacy('tools/call', { ...question().params, _meta: { progressToken: 1 } }), ALICE);
    await left.until('progress');
    left.leave();
    await untilLogged(1);
    expect((await post(question(), ALICE)).message.error?.data).toMatchObject({ limit: 'tokens_per_day' });
  });

  test('nothing is asked for a client that left while the store was asked', async () => {
    const asked = deferred<void>();
    const llmSearch = new FakeLlmSearch(COSTLY);
    const store = new FakeQuotaStore(() => asked.promise);
    const { begin, post, untilLogged } = await serveWith({ limits: { calls: 1 } }, llmSearch, store);
    const left = begin(question(), ALICE);
    await expect.poll(() => store.keys.length).toBe(1);
    left.leave();
    await expect(left.reply).rejects.toThrow();
    // The server notices it in a later turn.
    await new Promise((resolve) => setTimeout(resolve, 20));
    asked.settle();
    await untilLogged(1);
    expect(llmSearch.requests).toEqual([]);
    expect((await post(question(), ALICE)).status).toBe(200);
  });

  test('while the store fails, a call gets 503, and a call that was admitted before gets its answer', async () => {
    const store = new FakeQuotaStore();
    const search = repliesLate();
    const served = await serveWith({ limits: { calls: 9 } }, new FakeLlmSearch(search.configured), store);
    const { begin, post, at, accessLines, untilLogged } = served;
    const running = begin(legacy('tools/call', { ...question().params, _meta: { progressToken: 1 } }), ALICE);
    await running.until('progress');
    store.failure = 'ECONNREFUSED';
    const refused = await post(question('b'), ALICE);
    expect(refused.status).toBe(503);
    expect(refused.headers['retry-after']).toBe('5');
    expect(refused.message).toEqual({ jsonrpc: '2.0', id: 'b', error: { code: -32600, message: UNAVAILABLE } });
    await untilLogged(1);
    expect(accessLines[0]).toMatchObject({ status: 503, reason: 'quota store not available' });
    expect(await refusalsOf(at, ALICE)).toEqual(['{limit="unknown"} 1']);
    search.settle(ok(searchReply({ report: { queries: [], searches: 1, attempts: 1 } })));
    const answered = (await running.reply).events.at(-1);
    expect(answered?.result).toMatchObject({ structuredContent: {} });
    expect(Object.keys(answered?.result?._meta ?? {})).not.toContain(QUOTA);
  });
});

describe('over REST, and for tools of servers', () => {
  const serveFiles = (policy: Partial<QuotaPolicy>, store?: FakeQuotaStore) => {
    const files = new ScriptedToolServer({ read: says('Hello.') });
    return serveGateway({ files }, { expose: 'search', http: { quota: quotaOfPolicy(policy, store) } });
  };
  const READ = { server: 'files', toolName: 'read' };

  test('headers say what is left', async () => {
    const { call } = await serveFiles({ limits: { calls: 2, tokens: 70 } });
    expect((await call(READ)).headers).toMatchObject({
      'ratelimit-policy': '"calls_per_day";q=2;w=86400, "tokens_per_day";q=70;w=86400',
      ratelimit: '"calls_per_day";r=1;t=43200, "tokens_per_day";r=70;t=43200',
    });
  });

  test('a restart by request is a call, unless it was refused', async () => {
    const { at, clock } = await serveFiles({ limits: { calls: 2 } });
    const restart = () => send(at('/mcp/servers/files/restart'), { body: {} });
    expect(await restart()).toMatchObject({ status: 202, headers: { ratelimit: '"calls_per_day";r=1;t=43200' } });
    expect(await restart()).toMatchObject({ status: 429, headers: { ratelimit: '"calls_per_day";r=1;t=43200' } });
    await clock.advance(10_000);
    expect((await restart()).status).toBe(202);
    await clock.advance(10_000);
    const refused = await restart();
    expect(refused.status).toBe(429);
    expect(json(refused)).toMatchObject({ error: { code: 'QUOTA_EXCEEDED' } });
  });

  test('a call beyond the limit gets 429', async () => {
    const { call } = await serveFiles({ limits: { calls: 1 } });
    await call(READ);
    const refused = await call(READ);
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '43200']);
    expect(json(refused)).toEqual({
      success: false,
      error: {
        code: 'QUOTA_EXCEEDED',
        message:
          'Daily quota reached (calls_per_day: 1). It resets at 2026-11-23 00:00 (Asia/Tokyo); try again after that.',
        details: {
          limit: 'calls_per_day',
          max: 1,
          endsAt: '2026-11-22T15:00:00.000Z',
          requestId: refused.headers['x-request-id'],
        },
      },
    });
  });

  test('while the store fails, a call gets 503', async () => {
    const store = new FakeQuotaStore();
    store.failure = 'ECONNREFUSED';
    const { call } = await serveFiles({ limits: { calls: 1 } }, store);
    const refused = await call(READ);
    expect(refused.status).toBe(503);
    expect(refused.headers['retry-after']).toBe('5');
    expect(json(refused)).toMatchObject({ error: { code: 'QUOTA_UNAVAILABLE', message: UNAVAILABLE } });
  });

  const mcp = (name: string, args: object = {}) => legacy('tools/call', { name, arguments: args });
  test.for([
    ['an unknown server', '/mcp/call', { server: 'nobody', toolName: 'read' }],
    ['an unknown tool', '/mcp/call', { server: 'files', toolName: 'nothing' }],
    ['an unknown tool over MCP', '/mcp', mcp('nothing')],
    ['invalid arguments', '/mcp', mcp('answer', { query: 7 })],
    ['a query that find_tools refuses', '/mcp', mcp('find_tools')],
    ['an unknown tool of call_tool', '/mcp', mcp('call_tool', { name: 'files__none' })],
  ] as const)('a call with %s is not counted', async ([, path, body]) => {
    const { at, call } = await serveFiles({ limits: { calls: 1 } });
    await send(at(path), { body });
    expect((await call(READ)).headers.ratelimit).toBe('"calls_per_day";r=0;t=43200');
  });

  test('find_tools counts as a call, as does a call of a tool that it found', async () => {
    const { post } = await serveFiles({ limits: { calls: 2 } });
    const found = await post(mcp('find_tools', { query: 'read' }));
    const called = await post(mcp('call_tool', { name: 'files__read' }));
    expect([found, called].map(quotaOf)).toMatchObject([
      { calls_per_day: { left: 1 } },
      { calls_per_day: { left: 0 } },
    ]);
    expect((await post(mcp('find_tools', { query: 'read' }))).status).toBe(429);
  });
});
