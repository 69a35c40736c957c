import { isUnencrypted } from '../adapters/outbound/network/addresses.ts';
import { routeTo } from '../adapters/outbound/network/route.ts';
import { type Application, createApplication, type Grounding } from '../application/answers/application.ts';
import type { AnswerGateway } from '../application/grounded/grounded-calls.ts';
import type { ApiProbe } from '../application/ports/api-probe.ts';
import type { LlmSearch } from '../application/ports/llm-search.ts';
import type { GroundingPolicy } from '../domain/grounded/grounding.ts';
import type { Runtime } from './runtime.ts';
import { PROGRAM, VERSION } from './version.ts';

/** The application, and what ends everything that was made for it. */
export interface ComposedAnswers {
  readonly application: Application;
  readonly close: () => Promise<void>;
}

/** Composes the answers. `shippedRecordings` is the folder of the recordings in the package; `startGateway` starts the servers when it is called first. */
export async function composeAnswers(
  runtime: Runtime,
  shippedRecordings: string,
  startGateway: () => Promise<AnswerGateway>,
): Promise<ComposedAnswers> {
  const { config, clock, logger } = runtime;
  const { proxy } = config.openai;
  const isOffline = config.llm.adapter === 'offline';
  const proxied =
    proxy === undefined
      ? undefined
      : (await import('../adapters/outbound/network/proxy-fetch.ts')).createProxyFetch(proxy);
  const api = isOffline
    ? undefined
    : (await import('../adapters/outbound/openai/api-fetch.ts')).createApiFetch(proxied?.dispatcher);
  const llmSearch =
    api === undefined ? await loadOffline(runtime, shippedRecordings) : await loadOpenAi(runtime, api.fetch);
  const grounding = config.grounding && (await loadGrounding(runtime, config.grounding, startGateway));
  const readsPages = config.resolveDates || config.citationCheck !== 'off';
  const pages = readsPages && !isOffline ? await loadCitedPages(runtime) : undefined;
  const apiProbe = () => loadProbe(runtime, api?.fetch ?? fetch);
  const long = api && (await loadLong(runtime, llmSearch, api.fetch));
  // A recorded answer does not take minutes, but handles are never asked (rulings K4 and K21).
  const { longAnswers: _, ...withoutLong } = config;
  const ports = { llmSearch, apiProbe, clock, logger, citedPages: pages?.citedPages, long };
  return {
    application: createApplication(ports, config.llm.record === undefined ? config : withoutLong, grounding),
    close: async () => {
      await Promise.all([long?.answers.close(), llmSearch.close?.()]);
      await api?.close();
      await proxied?.close();
      await pages?.close();
    },
  };
}

/** The HTML parser and the address checks are loaded only if they are used (ruling A15). */
async function loadCitedPages({ clock, logger, config }: Runtime) {
  const { createCitedPages } = await import('../adapters/outbound/pages/create-cited-pages.ts');
  const { timeZone, resolveDates, citationCheck: check, pageProxy: proxy } = config;
  const purpose = check === 'off' ? 'reads the publication date of cited pages' : 'checks cited pages';
  const userAgent = `${PROGRAM}/${VERSION} (${purpose})`;
  return createCitedPages({ clock, logger, timeZone, resolveDates, check, userAgent, proxy });
}

async function loadGrounding(
  { redactor }: Runtime,
  policy: GroundingPolicy,
  startGateway: () => Promise<AnswerGateway>,
): Promise<Grounding> {
  const { toolErrorMessage } = await import('../adapters/inbound/words/tool-error-messages.ts');
  return { policy, startGateway, messageFor: toolErrorMessage, redactor };
}

async function loadOpenAi(runtime: Runtime, fetch: typeof globalThis.fetch) {
  const { openai, search, llm, maxRetries, maxConcurrency } = runtime.config;
  if (isUnencrypted(openai.baseUrl))
    runtime.logger.warn('openai.base_url begins with http://: the API key and the questions are sent unencrypted');
  const [{ OpenAiResponsesSearch }, { networkCalls }] = await Promise.all([
    import('../adapters/outbound/openai/openai-responses-search.ts'),
    import('../adapters/outbound/openai/api-client.ts'),
  ]);
  const recorder = llm.record === undefined ? undefined : await loadRecorder(runtime, llm.record);
  return new OpenAiResponsesSearch({
    ...runtime,
    recorder,
    callFor: networkCalls({ ...openai, fetch }),
    request: { store: openai.store, ...search, background: runtime.config.background },
    maxRetries,
    maxConcurrency,
    apiKeyVariable: openai.apiKeyVariable,
    route: routeTo(openai.baseUrl, openai.proxy),
  });
}

/** Undefined if no tool gives answers that take minutes, or there is no key (ruling K1). */
async function loadLong({ config, clock, redactor }: Runtime, llmSearch: LlmSearch, fetch: typeof globalThis.fetch) {
  const { longAnswers, openai } = config;
  const { apiKey } = openai;
  if (longAnswers === undefined || apiKey === undefined) return undefined;
  const [
    { LongAnswers },
    { LongTasks },
    { WatchedSearch },
    { PacedLooks },
    { OpenAiStartedResponses },
    { HmacHandleSigner },
    { networkCalls },
  ] = await Promise.all([
    import('../application/answers/long-answers.ts'),
    import('../application/answers/long-tasks.ts'),
    import('../application/answers/watch-response.ts'),
    import('../application/answers/paced-looks.ts'),
    import('../adapters/outbound/openai/openai-started-responses.ts'),
    import('../adapters/outbound/signing/hmac-handle-signer.ts'),
    import('../adapters/outbound/openai/api-client.ts'),
  ]);
  const openAiResponses = new OpenAiStartedResponses({
    callFor: networkCalls({ ...openai, fetch }),
    apiKeyVariable: openai.apiKeyVariable,
    route: routeTo(openai.baseUrl, openai.proxy),
    clock,
    redactor,
  });
  const signer = new HmacHandleSigner(apiKey);
  const responses = new PacedLooks(openAiResponses, clock);
  const answers = new LongAnswers({ responses, signer, clock, config: { ...config, longAnswers } });
  const tasks = new LongTasks(answers, { responses, clock });
  return { answers, tasks, llmSearch: new WatchedSearch({ llmSearch, responses, clock }) };
}

async function loadRecorder(runtime: Runtime, folder: string) {
  const { FolderRecorder } = await import('../adapters/outbound/openai/recordings/folder-recorder.ts');
  return new FolderRecorder({ ...runtime, folder, recordPrivate: runtime.config.llm.recordPrivate });
}

async function loadOffline(
  runtime: Runtime,
  shippedRecordings: string,
): Promise<LlmSearch & { readonly close?: undefined }> {
  const [{ OfflineSearch }, { Recordings }] = await Promise.all([
    import('../adapters/outbound/openai/recordings/offline-search.ts'),
    import('../adapters/outbound/openai/recordings/recordings.ts'),
  ]);
  const recordings = new Recordings(runtime.config.llm.recordings ?? shippedRecordings);
  return new OfflineSearch({ ...runtime, recordings });
}

async function loadProbe({ config, redactor }: Runtime, fetch: typeof globalThis.fetch): Promise<ApiProbe> {
  const { openai } = config;
  const { OpenAiProbe } = await import('../adapters/outbound/openai/openai-probe.ts');
  return new OpenAiProbe({ ...openai, route: routeTo(openai.baseUrl, openai.proxy), fetch, redact: redactor.inLogs });
}
