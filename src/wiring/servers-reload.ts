import { logNotices, messageForProblem } from '../adapters/inbound/words/process-messages.ts';
import type { ServerConfig } from '../adapters/outbound/config/server-config.ts';
import { coalesced } from '../application/async/shared-runs.ts';
import { reloadProblem } from '../application/gateway/loaded-servers.ts';
import type { Validated } from '../application/ports/config.ts';
import type { Services } from '../application/ports/services.ts';

/** The members of the configuration that a reload applies, all of them or none. All others stay as they were at the start. */
export type Reloadable = Pick<ServerConfig, 'servers' | 'access' | 'lock' | 'text'>;
/** With what people should know about them. */
export type Reloaded = Reloadable & Pick<ServerConfig, 'notices'>;

interface ServersReloadOptions extends Pick<Services, 'logger'> {
  /** The configuration that applies at the start. */
  readonly initial: Reloadable;
  /** Replaces the configuration. If it rejects, nothing was changed. */
  readonly apply: (reloaded: Reloaded) => Promise<void>;
  readonly logSpawn: (line: string) => void;
  /** Reads the complete configuration again. */
  readonly reload: () => Promise<Validated<Reloaded>>;
  readonly onReload: (isSuccessful: boolean) => void;
}

/**
 * A function that reads the configuration again and, if all of it is valid, applies the keys that can be reloaded.
 * One reload runs at a time; requests during it lead to one further reload.
 */
export function serversReload({ initial, apply, logSpawn, reload, logger, onReload }: ServersReloadOptions) {
  let current = initial;
  const run = async () => {
    const validated = await reload();
    if ('problems' in validated) {
      const problems = validated.problems.map(messageForProblem).join('; ');
      logger.warn(`gateway: the configuration has problems, so nothing was changed: ${problems}`);
      return false;
    }
    const { servers = [], notices } = validated.value;
    const problem = reloadProblem(current, validated.value);
    if (problem !== undefined) {
      logger.warn(problem === 'cut' ? CUT : missingLimits(problem));
      return false;
    }
    await apply(validated.value);
    current = validated.value;
    logNotices(notices, logger);
    const names = servers.map(({ name }) => name).join(', ') || 'none';
    logSpawn(`gateway: the configuration was read again; servers: ${names}`);
    return true;
  };
  const failed = (bug: unknown) => {
    logger.error(`gateway: the servers could not be configured again, so nothing was changed: ${String(bug)}`);
    return false;
  };
  return coalesced(() => run().catch(failed).then(onReload));
}

const CUT =
  'gateway: the configuration file is a beginning of the one in effect, as after an interrupted write, so that nothing was changed; to remove its last lines, restart the program, or change another line, too';

const missingLimits = (limits: readonly string[]) =>
  `gateway: ${limits.join(', ')} is missing, so that nothing was changed; to remove it, restart the program`;
