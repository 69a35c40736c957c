import 'reflect-metadata';
import { type InjectionToken, instanceCachingFactory, container as root } from 'tsyringe';
import { toCheckResult } from '../adapters/inbound/mcp/check-presentation.ts';
import { CHECK } from '../adapters/inbound/words/check-messages.ts';
import { toolErrorMessage } from '../adapters/inbound/words/tool-error-messages.ts';
import { isUnencrypted, routeTo } from '../adapters/outbound/network/addresses.ts';
import { createProxyAgent } from '../adapters/outbound/network/proxy-fetch.ts';
import { networkCalls } from '../adapters/outbound/openai/api-client.ts';
import { createApiFetch } from '../adapters/outbound/openai/api-fetch.ts';
import { OpenAiProbe } from '../adapters/outbound/openai/openai-probe.ts';
import { OpenAiResponsesSearch } from '../adapters/outbound/openai/openai-responses-search.ts';
import { OpenAiStartedResponses } from '../adapters/outbound/openai/openai-started-responses.ts';
import { folderRecorder } from '../adapters/outbound/openai/recordings/folder-recorder.ts';
import { OfflineSearch } from '../adapters/outbound/openai/recordings/offline-search.ts';
import { createCitedPages } from '../adapters/outbound/pages/create-cited-pages.ts';
import { HmacHandleSigner } from '../adapters/outbound/signing/hmac-handle-signer.ts';
import { WorkerTextReader } from '../adapters/outbound/texts/worker-text-reader.ts';
import { type Application, createApplication } from '../application/answers/application.ts';
import { LongAnswers } from '../application/answers/long-answers.ts';
import { checkSources } from '../application/check/check-sources.ts';
import type { AnswerGateway } from '../application/grounded/grounded-calls.ts';
import type { LlmSearch } from '../application/ports/llm-search.ts';
import { composeApiKey } from './api-key.ts';
import { PROGRAM, type Runtime, VERSION } from './runtime.ts';

/** The ports of the answers, and what they share. Each is made when it is first resolved. */
const TOKENS = {
  api: token<Api>('Api'),
  openAi: token<OpenAiOptions>('OpenAiOptions'),
  llmSearch: token<LlmSearch & Partial<Closable>>('LlmSearch'),
  longAnswers: token<LongAnswers | undefined>('LongAnswers'),
  citedPages: token<Pages | undefined>('CitedPages'),
  checkedPages: token<Pages>('CheckedPages'),
  texts: token<WorkerTextReader>('TextReader'),
  application: token<Application>('Application'),
};

interface Closable {
  readonly close: () => Promise<void>;
}

type Api = ReturnType<typeof createApiFetch>;
type OpenAiOptions = ReturnType<typeof toOpenAiOptions>;
type Pages = ReturnType<typeof createCitedPages>;

/** Files of the program that it opens itself. */
interface ProgramFiles {
  /** The folder of the recordings in the package. */
  readonly recordings: string;
  /** The entry point of the threads that read texts. */
  readonly textWorker: string;
}

/** The pages that a check may request: those of a person in a terminal have more time, and may be private. */
export type Reach = Partial<Pick<Parameters<typeof createCitedPages>[0], 'pageMs' | 'isPrivate'>>;

/** The answers and the check of sources, which share packages and nothing else. */
export type Answers = ReturnType<typeof createContainer>;

/**
 * Registers the adapters of the ports of answers, as the configuration chooses them. `startGateway` starts the servers when it is first called. Import
 * this file only with the first question, because it loads `openai`.
 */
export function createContainer(runtime: Runtime, files: ProgramFiles, startGateway: () => Promise<AnswerGateway>) {
  const ports = new Ports();
  registerApi(ports, runtime, files);
  registerPages(ports, runtime, files);
  ports.register(TOKENS.application, () => applicationOf(ports, runtime, startGateway));
  return {
    application: () => ports.get(TOKENS.application),
    /** The check of sources, with its presentation. */
    check: (reach: Reach = {}) => {
      ports.register(TOKENS.checkedPages, () =>
        createPages(runtime, 'checks sources', { resolveDates: false, check: 'evidence', ...reach }),
      );
      const { citedPages, fetchText } = ports.get(TOKENS.checkedPages);
      const check = checkSources({ citedPages, texts: ports.get(TOKENS.texts), clock: runtime.clock });
      return { check, fetchText, present: toCheckResult, progress: CHECK.progress, problem: CHECK.problem };
    },
    close: () => ports.close(),
  };
}

/**
 * Ports by their tokens, in a container of tsyringe that is known to this file alone. Functions compose everything else: a container is the choice of the
 * owner of the project for what the configuration exchanges, and that is the ports of the answers.
 */
class Ports {
  readonly #container = root.createChildContainer();
  readonly #made: Partial<Closable>[] = [];

  register<T>(key: InjectionToken<T>, make: () => T & (Partial<Closable> | undefined)): void {
    const useFactory = instanceCachingFactory(() => {
      const port = make();
      if (port !== undefined) this.#made.push(port);
      return port;
    });
    this.#container.register<T>(key, { useFactory });
  }

  get<T>(key: InjectionToken<T>): T {
    return this.#container.resolve(key);
  }

  /** Closes everything that was made: users of a port before the port. */
  async close(): Promise<void> {
    for (const port of this.#made.reverse()) await port.close?.();
    await this.#container.dispose();
  }
}

function registerApi(ports: Ports, runtime: Runtime, { recordings }: ProgramFiles): void {
  const { config, clock } = runtime;
  const { openai, llm, longAnswers } = config;
  ports.register(TOKENS.api, () =>
    createApiFetch(openai.proxy === undefined ? undefined : createProxyAgent(openai.proxy)),
  );
  ports.register(TOKENS.openAi, () => toOpenAiOptions(runtime, ports.get(TOKENS.api)));
  ports.register(TOKENS.llmSearch, () =>
    llm.adapter === 'offline'
      ? new OfflineSearch({ ...runtime, path: llm.recordings ?? recordings })
      : createOpenAiSearch(runtime, ports.get(TOKENS.openAi)),
  );
  ports.register(TOKENS.longAnswers, () => {
    const hasKey = openai.apiKey !== undefined || openai.apiKeySource !== undefined;
    if (longAnswers === undefined || !hasKey || llm.adapter === 'offline') return undefined;
    const openAi = ports.get(TOKENS.openAi);
    const { keptKey } = openAi;
    const responses = new OpenAiStartedResponses({ ...openAi, callFor: networkCalls(openAi) });
    const signer = new HmacHandleSigner(keptKey === undefined ? (openai.apiKey ?? '') : () => keptKey.known);
    const prepareKey = keptKey && ((signal: AbortSignal) => keptKey.read(signal));
    const { keepMs } = longAnswers;
    const llmSearch = ports.get(TOKENS.llmSearch);
    return new LongAnswers({ llmSearch, responses, signer, prepareKey, clock, keepMs });
  });
}

function registerPages(ports: Ports, runtime: Runtime, { textWorker }: ProgramFiles): void {
  const { config, clock } = runtime;
  ports.register(TOKENS.citedPages, () => {
    const { resolveDates, check } = config.citations;
    if (config.llm.adapter === 'offline' || (!resolveDates && check === 'off')) return undefined;
    const purpose = check === 'off' ? 'reads the publication date of cited pages' : 'checks cited pages';
    return createPages(runtime, purpose, { resolveDates, check });
  });
  ports.register(TOKENS.texts, () => new WorkerTextReader({ file: textWorker, clock }));
}

function applicationOf(
  ports: Ports,
  { config, clock, logger, redactor }: Runtime,
  startGateway: () => Promise<AnswerGateway>,
): Application {
  const { grounding: policy } = config;
  return createApplication(
    {
      clock,
      logger,
      llmSearch: ports.get(TOKENS.llmSearch),
      long: ports.get(TOKENS.longAnswers),
      citedPages: ports.get(TOKENS.citedPages)?.citedPages,
      texts: ports.get(TOKENS.texts),
      apiProbe: async () => new OpenAiProbe(ports.get(TOKENS.openAi)),
    },
    config,
    policy && { policy, startGateway, messageFor: toolErrorMessage, redactor },
  );
}

function token<T>(name: string) {
  return Symbol(name) as InjectionToken<T>;
}

/** Options that the adapters of the API share. */
function toOpenAiOptions(runtime: Runtime, api: Api) {
  const { config, clock, logger, redactor } = runtime;
  const { openai } = config;
  const keptKey = composeApiKey(runtime);
  const fetch = keptKey === undefined ? api.fetch : keptKey.fetchWith(api.fetch);
  return { ...openai, route: routeTo(openai.baseUrl, openai.proxy), clock, logger, redactor, fetch, keptKey };
}

function createOpenAiSearch({ config, logger }: Runtime, openAi: OpenAiOptions) {
  const { search, llm, request } = config;
  const { background, ...limits } = request;
  if (isUnencrypted(openAi.baseUrl))
    logger.warn('openai.base_url begins with http://: the API key and the questions are sent unencrypted');
  const { recordPrivate } = llm;
  const recorder =
    llm.record === undefined ? undefined : folderRecorder({ ...openAi, folder: llm.record, recordPrivate });
  const body = { store: openAi.store, ...search, background };
  const callFor = networkCalls(openAi);
  return new OpenAiResponsesSearch({ ...openAi, recorder, callFor, request: body, ...limits });
}

/** The reader of cited pages, which names its purpose to sites. */
function createPages(
  { clock, logger, config: { timeZone, pageProxy: proxy } }: Runtime,
  purpose: string,
  read: Pick<Parameters<typeof createCitedPages>[0], 'resolveDates' | 'check'> & Reach,
) {
  return createCitedPages({ clock, logger, timeZone, proxy, userAgent: `${PROGRAM}/${VERSION} (${purpose})`, ...read });
}
