import { logNotices, messageForProblem } from '../adapters/inbound/cli/config-problems.ts';
import type { ServerConfig } from '../adapters/outbound/config/load-config.ts';
import { coalesced } from '../application/coalesced.ts';
import type { Validated } from '../application/ports/config.ts';
import type { Logger } from '../application/ports/logger.ts';
import type { GatewayHolder, GatewayHooks } from './gateway-holder.ts';

export interface ServersReloadOptions {
  readonly holder: Pick<GatewayHolder, 'configure'>;
  readonly hooks: GatewayHooks;
  /** Reads the complete configuration again. */
  readonly reload: () => Promise<Validated<Pick<ServerConfig, 'servers' | 'notices'>>>;
  readonly logger: Logger;
}

/**
 * A function that reads the configuration again. Only the servers are replaced, and only if the complete configuration is valid (ruling G10).
 * One reload runs at a time; requests during it lead to one more.
 */
export function serversReload({ holder, hooks, reload, logger }: ServersReloadOptions): () => void {
  const run = async () => {
    const validated = await reload();
    if ('problems' in validated) {
      const problems = validated.problems.map(messageForProblem).join('; ');
      logger.warn(`gateway: the configuration has problems, so that nothing was changed: ${problems}`);
      return;
    }
    const { servers = [], notices } = validated.value;
    await holder.configure(servers, hooks);
    logNotices(notices, logger);
    const names = servers.map(({ name }) => name).join(', ') || 'none';
    hooks.logSpawn(`gateway: the configuration was read again; servers: ${names}`);
  };
  return coalesced(() =>
    run().catch((bug: unknown) =>
      logger.error(`gateway: the servers could not be configured again, so that nothing was changed: ${String(bug)}`),
    ),
  );
}
