import 'reflect-metadata';
import { type DependencyContainer, instanceCachingFactory, container as root } from 'tsyringe';
import type { Proxies } from './adapters/outbound/config/proxies.ts';
import type { ServerConfig } from './adapters/outbound/config/server-config.ts';
import { LazySearch } from './adapters/outbound/lazy-search.ts';
import { type Application, createApplication } from './application/application.ts';
import type { ApiProbe } from './application/ports/api-probe.ts';
import type { Clock } from './application/ports/clock.ts';
import type { LlmSearch } from './application/ports/llm-search.ts';
import type { Logger } from './application/ports/logger.ts';
import type { Redactor } from './domain/redaction.ts';
import type { Foundation } from './foundation.ts';

const TOKENS = {
  config: Symbol('Config'),
  clock: Symbol('Clock'),
  logger: Symbol('Logger'),
  redactor: Symbol('Redactor'),
  llmSearch: Symbol('LlmSearch'),
  apiProbe: Symbol('ApiProbe'),
  application: Symbol('Application'),
};

/** Puts the application together on its foundation: the only place that knows every adapter. `shippedRecordings` is a folder. */
export function assemble(foundation: Foundation, shippedRecordings: string): Application {
  const container = root.createChildContainer();
  const { config, clock, logger, redactor } = foundation;
  container.register<ServerConfig>(TOKENS.config, { useValue: config });
  container.register<Clock>(TOKENS.clock, { useValue: clock });
  container.register<Logger>(TOKENS.logger, { useValue: logger });
  container.register<Redactor>(TOKENS.redactor, { useValue: redactor });

  const once = <T>(token: symbol, create: (container: DependencyContainer) => T) =>
    container.register<T>(token, { useFactory: instanceCachingFactory(create) });
  once<LlmSearch>(
    TOKENS.llmSearch,
    (c) => new LazySearch(() => (config.llm.adapter === 'offline' ? loadOffline(c, shippedRecordings) : loadOpenAi(c))),
  );
  once<() => Promise<ApiProbe>>(TOKENS.apiProbe, (c) => () => loadProbe(c));
  once<Application>(TOKENS.application, (c) =>
    createApplication(
      { llmSearch: c.resolve(TOKENS.llmSearch), apiProbe: c.resolve(TOKENS.apiProbe), ...parts(c) },
      c.resolve<ServerConfig>(TOKENS.config),
    ),
  );
  return container.resolve<Application>(TOKENS.application);
}

function parts(container: DependencyContainer): Pick<Foundation, 'clock' | 'logger' | 'redactor'> {
  return {
    clock: container.resolve(TOKENS.clock),
    logger: container.resolve(TOKENS.logger),
    redactor: container.resolve(TOKENS.redactor),
  };
}

async function loadOpenAi(container: DependencyContainer): Promise<LlmSearch> {
  const config = container.resolve<ServerConfig>(TOKENS.config);
  const { openai, search, llm } = config;
  const shared = parts(container);
  const [{ OpenAiResponsesSearch }, { networkCalls }] = await Promise.all([
    import('./adapters/outbound/openai/openai-responses-search.ts'),
    import('./adapters/outbound/openai/network-calls.ts'),
  ]);
  const proxied = openai.proxies === undefined ? {} : { fetch: await loadProxyFetch(openai.proxies) };
  const recorder =
    llm.record === undefined
      ? {}
      : {
          recorder: new (await import('./adapters/outbound/offline/folder-recorder.ts')).FolderRecorder({
            folder: llm.record,
            ...shared,
          }),
        };
  return new OpenAiResponsesSearch({
    callFor: networkCalls({ ...openai, ...proxied }),
    request: { store: openai.store, ...search },
    maxRetries: config.maxRetries,
    maxConcurrency: config.maxConcurrency,
    apiKeyVariable: openai.apiKeyVariable,
    baseUrl: openai.baseUrl,
    ...recorder,
    ...shared,
  });
}

async function loadOffline(container: DependencyContainer, shippedRecordings: string): Promise<LlmSearch> {
  const { llm } = container.resolve<ServerConfig>(TOKENS.config);
  const [{ OfflineSearch }, { Recordings }] = await Promise.all([
    import('./adapters/outbound/offline/offline-search.ts'),
    import('./adapters/outbound/offline/recordings.ts'),
  ]);
  const recordings = new Recordings(llm.recordings ?? shippedRecordings);
  return new OfflineSearch({ recordings, ...parts(container) });
}

async function loadProbe(container: DependencyContainer): Promise<ApiProbe> {
  const { openai } = container.resolve<ServerConfig>(TOKENS.config);
  const { redactor } = parts(container);
  const { OpenAiProbe } = await import('./adapters/outbound/openai/openai-probe.ts');
  return new OpenAiProbe({
    ...openai,
    fetch: openai.proxies === undefined ? fetch : await loadProxyFetch(openai.proxies),
    redact: redactor.inLogs,
  });
}

async function loadProxyFetch(proxies: Proxies): Promise<typeof fetch> {
  return (await import('./adapters/outbound/openai/proxy-fetch.ts')).createProxyFetch(proxies);
}
