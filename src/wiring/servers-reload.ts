import { logNotices, messageForProblem } from '../adapters/inbound/words/config-problems.ts';
import type { ServerConfig } from '../adapters/outbound/config/server-config.ts';
import { coalesced } from '../application/async/coalesced.ts';
import type { Validated } from '../application/ports/config.ts';
import type { Logger } from '../application/ports/logger.ts';
import { LOCAL_CALLER } from '../domain/gateway/call-origin.ts';
import { matchesPattern } from '../domain/gateway/gateway-tool.ts';

/** The members of the configuration that a reload applies, all of them or none. All others stay as they were at the start. */
export type Reloadable = Pick<ServerConfig, 'servers' | 'access' | 'lock' | 'text'>;

interface ServersReloadOptions {
  /** The configuration that applies at the start. */
  readonly initial: Reloadable;
  /** Replaces the configuration. If it rejects, nothing was changed. */
  readonly apply: (reloadable: Reloadable) => Promise<void>;
  readonly logSpawn: (line: string) => void;
  /** Reads the complete configuration again. */
  readonly reload: () => Promise<Validated<Reloadable & Pick<ServerConfig, 'notices'>>>;
  readonly logger: Logger;
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
    if (isBeginning(validated.value.text, current.text)) {
      logger.warn(CUT);
      return false;
    }
    const missing = removedLimits(current, validated.value);
    if (missing.length > 0) {
      logger.warn(
        `gateway: ${missing.join(', ')} is missing, so that nothing was changed; to remove it, restart the program`,
      );
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

/** Whether a text is cut. A cut inside of a character, and a file system after a crash, leave other characters at the end. */
function isBeginning(after = '', before = ''): boolean {
  const text = after.replace(/[\0\uFFFD]+$/, '').trimEnd();
  return text.length < before.trimEnd().length && before.startsWith(text);
}

/**
 * The limits of callers that a reload would remove. If a full disk cuts a file, its beginning is often valid, and would otherwise open
 * everything.
 */
function removedLimits(before: Reloadable, after: Reloadable): readonly string[] {
  const sections = [
    ...(before.access !== undefined && after.access === undefined ? ['access'] : []),
    ...(before.access?.[LOCAL_CALLER] && after.access && !after.access[LOCAL_CALLER] ? [`access.${LOCAL_CALLER}`] : []),
    ...(before.lock !== undefined && after.lock === undefined ? ['gateway.lock'] : []),
  ];
  const isDenied = (pattern: string, deny: readonly string[] = []) => deny.some((now) => matchesPattern(pattern, now));
  const rules = (before.servers ?? []).flatMap(({ name, filter }) => {
    const now = after.servers?.find((server) => server.name === name)?.filter;
    if (now === undefined) return [];
    const isOpened = filter.allow !== undefined && now.allow === undefined;
    const allowed = (filter.deny ?? []).filter((pattern) => !isDenied(pattern, now.deny));
    const denies = now.deny === undefined ? [''] : allowed.map((pattern) => ` (${pattern})`);
    return [
      ...(isOpened ? [`tools.allow of ${name}`] : []),
      ...(allowed.length > 0 ? denies.map((entry) => `tools.deny${entry} of ${name}`) : []),
    ];
  });
  return [...sections, ...rules];
}
