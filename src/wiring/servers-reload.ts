import { logNotices, messageForProblem } from '../adapters/inbound/words/config-problems.ts';
import type { ServerConfig } from '../adapters/outbound/config/load-config.ts';
import { coalesced } from '../application/async/coalesced.ts';
import type { Validated } from '../application/ports/config.ts';
import type { Logger } from '../application/ports/logger.ts';

/** The members of the configuration that a reload applies, all of them or none (ruling T21). All others stay as they were at the start. */
export type Reloadable = Pick<ServerConfig, 'servers' | 'access' | 'lock'>;

interface ServersReloadOptions {
  /** Replaces what was configured. If it rejects, nothing was changed. */
  readonly apply: (reloadable: Reloadable) => Promise<void>;
  readonly logSpawn: (line: string) => void;
  /** Reads the complete configuration again. */
  readonly reload: () => Promise<Validated<Reloadable & Pick<ServerConfig, 'notices'>>>;
  readonly logger: Logger;
}

/**
 * A function that reads the configuration again, and applies what can be reloaded, if the complete configuration is valid (rulings G10, T21).
 * One reload runs at a time; requests during it lead to one more.
 */
export function serversReload({ apply, logSpawn, reload, logger }: ServersReloadOptions): () => void {
  const run = async () => {
    const validated = await reload();
    if ('problems' in validated) {
      const problems = validated.problems.map(messageForProblem).join('; ');
      logger.warn(`gateway: the configuration has problems, so that nothing was changed: ${problems}`);
      return;
    }
    const { servers = [], notices } = validated.value;
    await apply(validated.value);
    logNotices(notices, logger);
    const names = servers.map(({ name }) => name).join(', ') || 'none';
    logSpawn(`gateway: the configuration was read again; servers: ${names}`);
  };
  return coalesced(() =>
    run().catch((bug: unknown) =>
      logger.error(`gateway: the servers could not be configured again, so that nothing was changed: ${String(bug)}`),
    ),
  );
}
