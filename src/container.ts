import 'reflect-metadata';
import { ok, type Result } from 'neverthrow';
import { type DependencyContainer, instanceCachingFactory, container as root } from 'tsyringe';
import { SystemClock } from './adapters/outbound/clock/system-clock.ts';
import { FileConfigSource, type FileConfigSourceOptions } from './adapters/outbound/config/file-config-source.ts';
import type { Proxies } from './adapters/outbound/config/proxies.ts';
import type { ServerConfig } from './adapters/outbound/config/server-config.ts';
import { LazySearch } from './adapters/outbound/lazy-search.ts';
import { StderrLogger } from './adapters/outbound/logger/stderr-logger.ts';
import { type Application, createApplication } from './application/application.ts';
import type { ApiProbe } from './application/ports/api-probe.ts';
import type { Clock } from './application/ports/clock.ts';
import type { ConfigProblem, ConfigSource } from './application/ports/config.ts';
import type { LlmSearch } from './application/ports/llm-search.ts';
import type { Logger } from './application/ports/logger.ts';
import { createRedactor, type Redactor } from './domain/redaction.ts';

/** The program put together, as its drivers use it. */
export interface Composition {
  readonly application: Application;
  readonly config: ServerConfig;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly redactor: Redactor;
  /** Closes what was opened here. */
  readonly close: () => void;
}

export interface CompositionOptions extends FileConfigSourceOptions {
  /** The recordings that ship with the package. */
  readonly shippedRecordings: string;
}

const TOKENS = {
  configSource: Symbol('ConfigSource'),
  config: Symbol('Config'),
  clock: Symbol('Clock'),
  logger: Symbol('Logger'),
  redactor: Symbol('Redactor'),
  llmSearch: Symbol('LlmSearch'),
  apiProbe: Symbol('ApiProbe'),
  application: Symbol('Application'),
};

/** Puts the program together: the only place that knows every adapter. Fails with what is wrong in the configuration. */
export async function compose(options: CompositionOptions): Promise<Result<Composition, readonly ConfigProblem[]>> {
  const container = root.createChildContainer();
  container.register<ConfigSource<ServerConfig>>(TOKENS.configSource, { useValue: new FileConfigSource(options) });
  const config = await container.resolve<ConfigSource<ServerConfig>>(TOKENS.configSource).load();
  return config.andThen((config) => {
    register(container, config, options.shippedRecordings);
    const logger = container.resolve<StderrLogger>(TOKENS.logger);
    return ok({
      config,
      logger,
      application: container.resolve<Application>(TOKENS.application),
      clock: container.resolve<Clock>(TOKENS.clock),
      redactor: container.resolve<Redactor>(TOKENS.redactor),
      close: () => logger.close(),
    });
  });
}

function register(container: DependencyContainer, config: ServerConfig, shippedRecordings: string): void {
  const once = <T>(token: symbol, create: (container: DependencyContainer) => T) =>
    container.register<T>(token, { useFactory: instanceCachingFactory(create) });

  container.register(TOKENS.config, { useValue: config });
  once<Clock>(TOKENS.clock, () => new SystemClock());
  once<Redactor>(TOKENS.redactor, () =>
    createRedactor([
      ...(config.openai.apiKey === undefined ? [] : [config.openai.apiKey]),
      ...(config.http?.tokens.map(({ token }) => token) ?? []),
    ]),
  );
  once<Logger>(TOKENS.logger, (c) => {
    const { debug, debugFile } = config.server;
    return new StderrLogger({ debug, ...(debugFile === undefined ? {} : { debugFile }), ...parts(c) });
  });
  once<LlmSearch>(
    TOKENS.llmSearch,
    (c) => new LazySearch(() => (config.llm.adapter === 'offline' ? loadOffline(c, shippedRecordings) : loadOpenAi(c))),
  );
  once<() => Promise<ApiProbe>>(TOKENS.apiProbe, (c) => () => loadProbe(c));
  once<Application>(TOKENS.application, (c) =>
    createApplication(
      {
        llmSearch: c.resolve(TOKENS.llmSearch),
        apiProbe: c.resolve(TOKENS.apiProbe),
        logger: c.resolve(TOKENS.logger),
        ...parts(c),
      },
      config,
    ),
  );
}

function parts(container: DependencyContainer): { readonly clock: Clock; readonly redactor: Redactor } {
  return { clock: container.resolve(TOKENS.clock), redactor: container.resolve(TOKENS.redactor) };
}

async function loadOpenAi(container: DependencyContainer): Promise<LlmSearch> {
  const config = container.resolve<ServerConfig>(TOKENS.config);
  const { openai, search, llm } = config;
  const shared = { logger: container.resolve<Logger>(TOKENS.logger), ...parts(container) };
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
  return new OfflineSearch({ recordings, logger: container.resolve<Logger>(TOKENS.logger), ...parts(container) });
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
