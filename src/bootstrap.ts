import { SystemClock } from './adapters/outbound/clock/system-clock.ts';
import { FileConfigSource, type FileConfigSourceOptions } from './adapters/outbound/config/file-config-source.ts';
import type { QuotaConfig } from './adapters/outbound/config/quota-config.ts';
import type { ServerConfig } from './adapters/outbound/config/server-config.ts';
import { StderrLogger } from './adapters/outbound/logger/stderr-logger.ts';
import type { Clock } from './application/ports/clock.ts';
import type { ConfigSource, Validated } from './application/ports/config.ts';
import type { Logger } from './application/ports/logger.ts';
import { createRedactor, type Redactor } from './domain/redaction.ts';

/** What every mode needs before the first request. The container builds the rest when it is needed. */
export interface Runtime {
  readonly config: ServerConfig;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly redactor: Redactor;
  /** Closes the debug file. */
  readonly close: () => void;
}

/** Loads the configuration and creates the runtime, or returns every problem in the configuration. */
export async function bootstrap(options: FileConfigSourceOptions): Promise<Validated<Runtime>> {
  const validated = await loadConfig(options);
  if ('problems' in validated) return validated;
  const config = validated.value;
  const { debug, debugFile } = config.server;
  const clock = new SystemClock();
  const tokens = config.http?.tokens.map(({ token }) => token) ?? [];
  const passwords = config.quota === undefined ? [] : await storePasswords(config.quota);
  const keys = config.openai.apiKey === undefined ? [] : [config.openai.apiKey];
  const redactor = createRedactor([...keys, ...tokens, ...passwords]);
  const logger = new StderrLogger({ debug, ...(debugFile === undefined ? {} : { debugFile }), clock, redactor });
  return { value: { config, clock, logger, redactor, close: () => logger.close() } };
}

async function storePasswords(quota: QuotaConfig): Promise<readonly string[]> {
  return (await import('./adapters/outbound/config/quota-config.ts')).storeSecrets(quota);
}

/** Reads and validates the complete configuration. */
export function loadConfig(options: FileConfigSourceOptions): Promise<Validated<ServerConfig>> {
  const source: ConfigSource<ServerConfig> = new FileConfigSource(options);
  return source.load();
}
