import { SystemClock } from './adapters/outbound/clock/system-clock.ts';
import { FileConfigSource, type FileConfigSourceOptions } from './adapters/outbound/config/file-config-source.ts';
import type { ServerConfig } from './adapters/outbound/config/server-config.ts';
import { StderrLogger } from './adapters/outbound/logger/stderr-logger.ts';
import type { Clock } from './application/ports/clock.ts';
import type { Checked, ConfigSource } from './application/ports/config.ts';
import type { Logger } from './application/ports/logger.ts';
import { createRedactor, type Redactor } from './domain/redaction.ts';

/** What a server needs before the first question: little enough to load at the start. The container adds the rest. */
export interface Foundation {
  readonly config: ServerConfig;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly redactor: Redactor;
  /** Closes what was opened here. */
  readonly close: () => void;
}

/** Reads and checks the configuration, and lays the foundation on it; or tells all that is wrong in it. */
export async function layFoundation(options: FileConfigSourceOptions): Promise<Checked<Foundation>> {
  const source: ConfigSource<ServerConfig> = new FileConfigSource(options);
  const checked = await source.load();
  if ('problems' in checked) return checked;
  const config = checked.value;
  const { debug, debugFile } = config.server;
  const clock = new SystemClock();
  const tokens = config.http?.tokens.map(({ token }) => token) ?? [];
  const redactor = createRedactor([...(config.openai.apiKey === undefined ? [] : [config.openai.apiKey]), ...tokens]);
  const logger = new StderrLogger({ debug, ...(debugFile === undefined ? {} : { debugFile }), clock, redactor });
  return { value: { config, clock, logger, redactor, close: () => logger.close() } };
}
