import { LongAnswers } from '../../src/application/answers/long-answers.ts';
import { FakeHandleSigner } from '../support/fake-handle-signer.ts';
import { FakeLlmSearch, hangs } from '../support/fake-llm-search.ts';
import { FakeLongApi } from '../support/fake-long-api.ts';
import { legacy } from '../support/http-client.ts';
import { serveHttp } from './serve-http.ts';

/** The endpoint, with detailed answers that take minutes. */
export async function serveLong() {
  const api = new FakeLongApi();
  const { clock } = api;
  const keepMs = 3_600_000;
  const config = { longAnswers: { tools: ['answer_detailed' as const], keepMs } };
  const long = new LongAnswers({ llmSearch: api, responses: api, signer: new FakeHandleSigner(), clock, keepMs });
  const http = { endWaits: () => long.endWaits() };
  const served = await serveHttp({ clock, llmSearch: new FakeLlmSearch(hangs), long, config, http });
  return { ...served, api, clock };
}

export const detailed = (query: string, id = 1) =>
  legacy('tools/call', { name: 'answer_detailed', arguments: { query } }, id);
