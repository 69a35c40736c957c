import 'reflect-metadata';
import { instanceCachingFactory, container as root } from 'tsyringe';
import { isUnencrypted } from './adapters/outbound/config/addresses.ts';
import { routeTo } from './adapters/outbound/openai/route.ts';
import { type Application, createApplication, type Grounding } from './application/application.ts';
import type { AnswerGateway } from './application/gateway-tool-box.ts';
import type { ComposedApplication } from './application/lazy-application.ts';
import type { ApiProbe } from './application/ports/api-probe.ts';
import type { LlmSearch } from './application/ports/llm-search.ts';
import type { LlmTurns } from './application/ports/llm-turns.ts';
import type { Runtime } from './bootstrap.ts';
import type { GroundingPolicy } from './domain/grounding.ts';
import { PROGRAM, VERSION } from './version.ts';

type Probe = () => Promise<ApiProbe>;

const TOKENS = { llmSearch: Symbol('LlmSearch'), apiProbe: Symbol('ApiProbe'), application: Symbol('Application') };

/** The composition root. `shippedRecordings` is the folder of the recordings in the package. */
export async function compose(
  runtime: Runtime,
  shippedRecordings: string,
  startGateway: () => Promise<AnswerGateway | undefined>,
): Promise<ComposedApplication> {
  const { config, clock, logger } = runtime;
  const { proxy } = config.openai;
  const isOffline = config.llm.adapter === 'offline';
  const proxied =
    proxy === undefined
      ? undefined
      : (await import('./adapters/outbound/openai/proxy-fetch.ts')).createProxyFetch(proxy);
  const api = isOffline
    ? undefined
    : (await import('./adapters/outbound/openai/api-fetch.ts')).createApiFetch(proxied?.dispatcher);
  const llmSearch =
    api === undefined ? await loadOffline(runtime, shippedRecordings) : await loadOpenAi(runtime, api.fetch);

  const grounding = config.grounding && (await loadGrounding(runtime, config.grounding, llmSearch, startGateway));
  const pages = config.resolveDates && config.llm.adapter !== 'offline' ? await loadPageDates(runtime) : undefined;
  const container = root.createChildContainer();
  container.register<LlmSearch>(TOKENS.llmSearch, { useValue: llmSearch });
  container.register(TOKENS.apiProbe, { useValue: () => loadProbe(runtime, api?.fetch ?? fetch) });
  container.register<Application>(TOKENS.application, {
    useFactory: instanceCachingFactory((c) => {
      const ports = { llmSearch: c.resolve<LlmSearch>(TOKENS.llmSearch), apiProbe: c.resolve<Probe>(TOKENS.apiProbe) };
      return createApplication({ ...ports, clock, logger, pageDates: pages?.pageDates }, config, grounding);
    }),
  });
  return {
    application: container.resolve(TOKENS.application),
    close: async () => {
      await llmSearch.close?.();
      await api?.close();
      await proxied?.close();
      await pages?.close();
      await container.dispose();
    },
  };
}

/** The HTML parser and the address checks are loaded only if they are used (ruling A15). */
async function loadPageDates({ clock, config }: Runtime) {
  const { createPageDates } = await import('./adapters/outbound/pages/create-page-dates.ts');
  const userAgent = `${PROGRAM}/${VERSION} (reads the publication date of cited pages)`;
  return createPageDates({ clock, timeZone: config.timeZone, userAgent, proxy: config.pageProxy });
}

async function loadGrounding(
  { redactor }: Runtime,
  policy: GroundingPolicy,
  turns: LlmTurns,
  startGateway: () => Promise<AnswerGateway | undefined>,
): Promise<Grounding> {
  const [{ GatewayToolBox }, { toolErrorMessage }] = await Promise.all([
    import('./application/gateway-tool-box.ts'),
    import('./adapters/inbound/tool-error-messages.ts'),
  ]);
  const toolBox = new GatewayToolBox(startGateway);
  const current: GroundingPolicy = {
    ...policy,
    // The servers may be configured again, unlike the rest.
    get publicServers() {
      return toolBox.publicServers;
    },
  };
  return { policy: current, turns, toolBox, messageFor: toolErrorMessage, redactor };
}

async function loadOpenAi(runtime: Runtime, fetch: typeof globalThis.fetch) {
  const { openai, search, llm, maxRetries, maxConcurrency } = runtime.config;
  if (isUnencrypted(openai.baseUrl))
    runtime.logger.warn('openai.base_url begins with http://: the API key and the questions are sent unencrypted');
  const [{ OpenAiResponsesSearch }, { networkCalls }] = await Promise.all([
    import('./adapters/outbound/openai/openai-responses-search.ts'),
    import('./adapters/outbound/openai/api-client.ts'),
  ]);
  const recorders = llm.record === undefined ? {} : await loadRecorders(runtime, llm.record);
  return new OpenAiResponsesSearch({
    ...runtime,
    ...recorders,
    callFor: networkCalls({ ...openai, fetch }),
    request: { store: openai.store, ...search, background: runtime.config.background },
    maxRetries,
    maxConcurrency,
    apiKeyVariable: openai.apiKeyVariable,
    route: routeTo(openai.baseUrl, openai.proxy),
  });
}

async function loadRecorders(runtime: Runtime, folder: string) {
  const [{ FolderRecorder }, { ConversationRecorder }] = await Promise.all([
    import('./adapters/outbound/openai/recordings/folder-recorder.ts'),
    import('./adapters/outbound/openai/recordings/conversation-recorder.ts'),
  ]);
  const { logger, config } = runtime;
  const recorder = new FolderRecorder({ ...runtime, folder });
  const turnRecorder = new ConversationRecorder({ recorder, isAllowed: config.llm.recordPrivate, logger });
  return { recorder, turnRecorder };
}

async function loadOffline(
  runtime: Runtime,
  shippedRecordings: string,
): Promise<LlmSearch & LlmTurns & { readonly close?: undefined }> {
  const [{ OfflineSearch }, { Recordings }] = await Promise.all([
    import('./adapters/outbound/openai/recordings/offline-search.ts'),
    import('./adapters/outbound/openai/recordings/recordings.ts'),
  ]);
  const recordings = new Recordings(runtime.config.llm.recordings ?? shippedRecordings);
  return new OfflineSearch({ ...runtime, recordings });
}

async function loadProbe({ config, redactor }: Runtime, fetch: typeof globalThis.fetch): Promise<ApiProbe> {
  const { openai } = config;
  const { OpenAiProbe } = await import('./adapters/outbound/openai/openai-probe.ts');
  return new OpenAiProbe({ ...openai, route: routeTo(openai.baseUrl, openai.proxy), fetch, redact: redactor.inLogs });
}
