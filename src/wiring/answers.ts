import { toolErrorMessage } from '../adapters/inbound/words/tool-error-messages.ts';
import { isUnencrypted, routeTo } from '../adapters/outbound/network/addresses.ts';
import { folderRecorder } from '../adapters/outbound/openai/recordings/folder-recorder.ts';
import { OfflineSearch } from '../adapters/outbound/openai/recordings/offline-search.ts';
import { type Application, createApplication } from '../application/answers/application.ts';
import type { AnswerGateway } from '../application/grounded/grounded-calls.ts';
import type { ApiProbe } from '../application/ports/api-probe.ts';
import type { LlmSearch } from '../application/ports/llm-search.ts';
import type { Runtime } from './runtime.ts';
import { PROGRAM, VERSION } from './version.ts';

/** The way to the API; undefined if the answers are recorded. */
export async function openApi({ config: { openai, llm } }: Runtime) {
  if (llm.adapter === 'offline') return undefined;
  const { createApiFetch } = await import('../adapters/outbound/openai/api-fetch.ts');
  if (openai.proxy === undefined) return createApiFetch();
  const { createProxyAgent } = await import('../adapters/outbound/network/proxy-fetch.ts');
  return createApiFetch(createProxyAgent(openai.proxy));
}

/**
 * Composes the answers over `api`, which is closed with them. `shippedRecordings` is the folder of the recordings in the package; `startGateway`
 * starts the servers when it is called first.
 */
export async function composeAnswers(
  runtime: Runtime,
  api: Awaited<ReturnType<typeof openApi>>,
  shippedRecordings: string,
  startGateway: () => Promise<AnswerGateway>,
): Promise<{ readonly application: Application; readonly close: () => Promise<void> }> {
  const { config, redactor } = runtime;
  const openAi = openAiOptions(runtime, api?.fetch ?? fetch);
  const llmSearch = await (api === undefined ? createOffline(runtime, shippedRecordings) : loadOpenAi(runtime, openAi));
  const long = api && (await loadLong(runtime, llmSearch, openAi));
  const grounding = config.grounding && {
    policy: config.grounding,
    startGateway,
    messageFor: toolErrorMessage,
    redactor,
  };
  const readsPages = config.resolveDates || config.citationCheck !== 'off';
  const pages = readsPages && api !== undefined ? await loadCitedPages(runtime) : undefined;
  const ports = { ...runtime, llmSearch, apiProbe: () => loadProbe(openAi), citedPages: pages?.citedPages, long };
  return {
    application: createApplication(ports, config, grounding),
    close: async () => {
      await Promise.all([long?.close(), llmSearch.close?.()]);
      await api?.close();
      await pages?.close();
    },
  };
}

type OpenAiOptions = ReturnType<typeof openAiOptions>;

/** What the adapters of the API have in common. */
function openAiOptions({ config: { openai }, clock, logger, redactor }: Runtime, fetch: typeof globalThis.fetch) {
  return { ...openai, route: routeTo(openai.baseUrl, openai.proxy), clock, logger, redactor, fetch };
}

async function loadOpenAi(runtime: Runtime, openAi: OpenAiOptions) {
  const { search, llm, maxRetries, maxConcurrency, background } = runtime.config;
  if (isUnencrypted(openAi.baseUrl))
    runtime.logger.warn('openai.base_url begins with http://: the API key and the questions are sent unencrypted');
  const [{ OpenAiResponsesSearch }, { networkCalls }] = await Promise.all([
    import('../adapters/outbound/openai/openai-responses-search.ts'),
    import('../adapters/outbound/openai/api-client.ts'),
  ]);
  const recorder = llm.record === undefined ? undefined : createRecorder(runtime, llm.record);
  const request = { store: openAi.store, ...search, background };
  const callFor = networkCalls(openAi);
  return new OpenAiResponsesSearch({ ...openAi, recorder, callFor, request, maxRetries, maxConcurrency });
}

/** Undefined if no tool gives answers that take minutes, or there is no key. */
async function loadLong({ config, clock }: Runtime, llmSearch: LlmSearch, openAi: OpenAiOptions) {
  const { longAnswers } = config;
  const { apiKey } = openAi;
  if (longAnswers === undefined || apiKey === undefined) return undefined;
  const [{ LongAnswers }, { OpenAiStartedResponses }, { HmacHandleSigner }, { networkCalls }] = await Promise.all([
    import('../application/answers/long-answers.ts'),
    import('../adapters/outbound/openai/openai-started-responses.ts'),
    import('../adapters/outbound/signing/hmac-handle-signer.ts'),
    import('../adapters/outbound/openai/api-client.ts'),
  ]);
  const responses = new OpenAiStartedResponses({ ...openAi, callFor: networkCalls(openAi) });
  const signer = new HmacHandleSigner(apiKey);
  return new LongAnswers({ llmSearch, responses, signer, clock, keepMs: longAnswers.keepMs });
}

function createRecorder(runtime: Runtime, folder: string) {
  return folderRecorder({ ...runtime, folder, recordPrivate: runtime.config.llm.recordPrivate });
}

function createOffline(runtime: Runtime, shippedRecordings: string): LlmSearch & { readonly close?: undefined } {
  return new OfflineSearch({ ...runtime, path: runtime.config.llm.recordings ?? shippedRecordings });
}

/** The HTML parser and the address checks are loaded only if they are used. */
async function loadCitedPages({ clock, logger, config }: Runtime) {
  const { createCitedPages } = await import('../adapters/outbound/pages/create-cited-pages.ts');
  const { timeZone, resolveDates, citationCheck: check, pageProxy: proxy } = config;
  const purpose = check === 'off' ? 'reads the publication date of cited pages' : 'checks cited pages';
  const userAgent = `${PROGRAM}/${VERSION} (${purpose})`;
  return createCitedPages({ clock, logger, timeZone, resolveDates, check, userAgent, proxy });
}

async function loadProbe(openAi: OpenAiOptions): Promise<ApiProbe> {
  const { OpenAiProbe } = await import('../adapters/outbound/openai/openai-probe.ts');
  return new OpenAiProbe(openAi);
}
