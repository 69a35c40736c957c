import { registerLongMetrics } from '../../src/adapters/inbound/http/server/long-metrics.ts';
import { LongAnswers } from '../../src/application/answers/long-answers.ts';
import { LongTasks } from '../../src/application/answers/long-tasks.ts';
import { WatchedSearch } from '../../src/application/answers/watch-response.ts';
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
  const answers = new LongAnswers({ responses: api, signer: new FakeHandleSigner(), clock, config });
  const tasks = new LongTasks(answers, { responses: api, clock });
  const long = { answers, tasks, llmSearch: new WatchedSearch({ llmSearch: api, responses: api, clock }) };
  const served = await serveHttp({
    clock,
    llmSearch,
    long,
    config,
    http: { endWaits: () => answers.endWaits(), ...http },
  });
  registerLongMetrics(served.metrics.registry, () => answers);
  return { ...served, api, clock, answers };
}

export const detailed = (query: string, id = 1) =>
  legacy('tools/call', { name: 'answer_detailed', arguments: { query } }, id);
