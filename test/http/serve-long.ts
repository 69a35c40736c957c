import { registerLongMetrics } from '../../src/adapters/inbound/http/server/long-metrics.ts';
import { LongAnswers } from '../../src/application/answers/long-answers.ts';
import { FakeHandleSigner } from '../support/fake-handle-signer.ts';
import { FakeLlmSearch, hangs } from '../support/fake-llm-search.ts';
import { FakeLongApi } from '../support/fake-long-api.ts';
import { legacy } from '../support/http-client.ts';
import { type ServeHttpOptions, serveHttp } from './serve-http.ts';

export const TIMEOUT_MS = 300_000;

/** The endpoint, with detailed answers that take minutes. */
export async function serveLong(http: ServeHttpOptions['http'] = {}) {
  const api = new FakeLongApi();
  const { clock } = api;
  const llmSearch = new FakeLlmSearch(hangs);
  const limits = { maxMs: 3_600_000, keepMs: 3_600_000, taskAfterMs: 30_000, orphanMs: 120_000 };
  const config = {
    profiles: { answer: { model: 'gpt-5.2' } },
    timeoutMs: TIMEOUT_MS,
    longAnswers: { tools: ['answer_detailed' as const], ...limits },
  };
  const long = new LongAnswers({ llmSearch: api, responses: api, signer: new FakeHandleSigner(), clock, config });
  const { searches } = long;
  const served = await serveHttp({
    clock,
    llmSearch,
    long,
    config,
    http: { endWaits: () => searches.endWaits(), ...http },
  });
  registerLongMetrics(served.metrics.registry, () => searches);
  return { ...served, api, clock, searches };
}

export const detailed = (query: string, id = 1) =>
  legacy('tools/call', { name: 'answer_detailed', arguments: { query } }, id);
