import type { OnUnknownTool } from '../adapters/inbound/mcp/tool-set.ts';
import { SystemClock } from '../adapters/outbound/clock/system-clock.ts';
import { type ConfigOptions, loadConfig, type ServerConfig } from '../adapters/outbound/config/load-config.ts';
import type { ServerEntry } from '../adapters/outbound/config/server-entry.ts';
import { StderrLogger } from '../adapters/outbound/logger/stderr-logger.ts';
import type { Audit } from '../application/audit/audit.ts';
import type { Clock } from '../application/ports/clock.ts';
import type { Validated } from '../application/ports/config.ts';
import type { Logger } from '../application/ports/logger.ts';
import type { TokenOwner } from '../application/ports/token-verifier.ts';
import type { AccessPolicy } from '../domain/gateway/access.ts';
import { EVERYTHING, type Rights } from '../domain/gateway/call-origin.ts';
import { createRedactor, type Redactor } from '../domain/values/redaction.ts';

/** What every mode needs before the first request. The services are made when they are needed. */
export interface Runtime {
  readonly config: ServerConfig;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly redactor: Redactor;
  /** What callers may use now (ruling T1). */
  readonly rightsOf: RightsOf;
  /** The section `access` as it is now. */
  readonly access: () => AccessPolicy | undefined;
  /** Prepares another section `access`, or none. The returned function applies it, together with the servers (ruling T21). */
  readonly prepareAccess: (policy: AccessPolicy | undefined) => Promise<() => void>;
  /** Reads the complete configuration again. */
  readonly reload: () => ReturnType<typeof loadConfig>;
  /** Both are present only if there is an audit, and tools may be called. */
  readonly audit?: Audit;
  readonly onUnknownTool?: OnUnknownTool;
  /** Closes the debug file. */
  readonly close: () => void;
}

/** The servers whose tools answers of the user of this machine use; all that exist for this user if clients use them too. */
export function answerServers(
  { servers = [], grounding, gateway }: ServerConfig,
  rights: Rights,
): readonly ServerEntry[] {
  const isUsed = (name: string) => gateway.expose || Object.hasOwn(grounding?.tools ?? {}, name);
  return servers.filter(({ name }) => rights.sees(name) && isUsed(name));
}

type RightsOf = (owner: TokenOwner) => Rights;

/** Nothing of it is loaded without `access`. */
async function loadRights(policy: AccessPolicy | undefined): Promise<RightsOf> {
  return policy === undefined ? () => EVERYTHING : (await import('../domain/gateway/access.ts')).rightsBy(policy);
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
  const clock = new SystemClock();
  const logger = new StderrLogger({ ...config.server, clock, redactor });
  let { access } = config;
  let rightsOf = await loadRights(access);
  const value: Runtime = {
    config,
    clock,
    logger,
    redactor,
    rightsOf: (owner) => rightsOf(owner),
    access: () => access,
    prepareAccess: async (policy) => {
      const prepared = await loadRights(policy);
      return () => {
        rightsOf = prepared;
        access = policy;
      };
    },
    reload: () => load(true),
    close: () => logger.close(),
  };
  return { value };
}
