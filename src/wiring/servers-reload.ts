import { logNotices, messageForProblem } from '../adapters/inbound/words/config-problems.ts';
import type { ServerConfig } from '../adapters/outbound/config/load-config.ts';
import type { ServerEntry } from '../adapters/outbound/config/server-entry.ts';
import { coalesced } from '../application/async/coalesced.ts';
import type { Validated } from '../application/ports/config.ts';
import type { Logger } from '../application/ports/logger.ts';

export interface ServersReloadOptions {
  /** Replaces the servers. If it rejects, nothing was changed. */
  readonly configure: (servers: readonly ServerEntry[]) => Promise<void>;
  readonly logSpawn: (line: string) => void;
  /** Reads the complete configuration again. */
  readonly reload: () => Promise<Validated<Pick<ServerConfig, 'servers' | 'notices'>>>;
  readonly logger: Logger;
}

/**
 * A function that reads the configuration again. Only the servers are replaced, and only if the complete configuration is valid (ruling G10).
 * One reload runs at a time; requests during it lead to one more.
 */
export function serversReload({ configure, logSpawn, reload, logger }: ServersReloadOptions): () => void {
  const run = async () => {
    const validated = await reload();
    if ('problems' in validated) {
      const problems = validated.problems.map(messageForProblem).join('; ');
      logger.warn(`gateway: the configuration has problems, so that nothing was changed: ${problems}`);
      return;
    }
    const { servers = [], notices } = validated.value;
    await configure(servers);
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
