import { SystemClock } from '../adapters/outbound/clock/system-clock.ts';
import { type ConfigOptions, loadConfig, type ServerConfig } from '../adapters/outbound/config/load-config.ts';
import type { ServerEntry } from '../adapters/outbound/config/server-entry.ts';
import { StderrLogger } from '../adapters/outbound/logger/stderr-logger.ts';
import type { Clock } from '../application/ports/clock.ts';
import type { Validated } from '../application/ports/config.ts';
import type { Logger } from '../application/ports/logger.ts';
import { createRedactor, type Redactor } from '../domain/values/redaction.ts';

/** What every mode needs before the first request. The services are made when they are needed. */
export interface Runtime {
  readonly config: ServerConfig;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly redactor: Redactor;
  /** Reads the complete configuration again. */
  readonly reload: () => Promise<Validated<ServerConfig>>;
  /** Closes the debug file. */
  readonly close: () => void;
}

/** The servers whose tools answers use; all of them if clients use them too. */
export function answerServers({ servers = [], grounding, gateway }: ServerConfig): readonly ServerEntry[] {
  return gateway.expose ? servers : servers.filter(({ name }) => Object.hasOwn(grounding?.tools ?? {}, name));
}

/** Loads the configuration and creates the runtime, or returns every problem in the configuration. */
export async function bootstrap(options: ConfigOptions): Promise<Validated<Runtime>> {
  const redactor = createRedactor();
  const load = async (isReload: boolean) => {
    const validated = await loadConfig({ ...options, isReload });
    if ('value' in validated) redactor.learn(validated.value.secrets);
    return validated;
  };
  const validated = await load(false);
  if ('problems' in validated) return validated;
  const config = validated.value;
  const { debug, debugFile } = config.server;
  const clock = new SystemClock();
  const logger = new StderrLogger({ debug, ...(debugFile === undefined ? {} : { debugFile }), clock, redactor });
  return { value: { config, clock, logger, redactor, reload: () => load(true), close: () => logger.close() } };
}
