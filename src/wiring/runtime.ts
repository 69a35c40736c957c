import { SystemClock } from '../adapters/outbound/clock/system-clock.ts';
import { loadConfig, type ServerConfig } from '../adapters/outbound/config/load-config.ts';
import type { ServerEntry } from '../adapters/outbound/config/server-entry.ts';
import type { ConfigOptions } from '../adapters/outbound/config/set-keys.ts';
import { StderrLogger } from '../adapters/outbound/logger/stderr-logger.ts';
import type { Clock } from '../application/ports/clock.ts';
import type { Validated } from '../application/ports/config.ts';
import type { Logger } from '../application/ports/logger.ts';
import type { TokenOwner } from '../application/ports/token-verifier.ts';
import type { Audit } from '../application/tools/audit.ts';
import { CHECK_TOOL } from '../domain/answers/tool-name.ts';
import { type AccessPolicy, rightsBy } from '../domain/gateway/access.ts';
import { EVERYTHING, type Rights, withoutAnswers } from '../domain/gateway/call-origin.ts';
import { createRedactor, keyProblem, type Redactor } from '../domain/values/redaction.ts';

/** What every mode needs before the first request. The services are made when they are needed. */
export interface Runtime {
  readonly config: ServerConfig;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly redactor: Redactor;
  /** What callers may use now. */
  readonly rightsOf: RightsOf;
  /** The section `access` as it is now. */
  readonly access: () => AccessPolicy | undefined;
  /** Prepares another section `access`, or none. The returned function applies it, together with the servers. */
  readonly prepareAccess: (policy: AccessPolicy | undefined) => Promise<() => void>;
  /** Reads the complete configuration again. */
  readonly reload: () => ReturnType<typeof loadConfig>;
  /** Present only if there is an audit, and tools may be called. */
  readonly audit?: Audit;
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

/**
 * Whether clients get the tools of servers only: there is no key for answers. On stdio, clients see servers only with `gateway.expose`; without it,
 * the answer tools stay, since there would be nothing else.
 */
export function isGatewayOnly({ servers = [], gateway, http, llm, openai }: ServerConfig): boolean {
  const offersServers = servers.length > 0 && (http !== undefined || gateway.expose !== false);
  return offersServers && llm.adapter !== 'offline' && keyProblem(openai.apiKey) === 'no_api_key';
}

/** The names of the servers that the user of this machine may not use. */
export function hiddenServers({ servers = [] }: ServerConfig, rights: Rights): readonly string[] {
  return servers.map(({ name }) => name).filter((name) => !rights.sees(name));
}

type RightsOf = (owner: TokenOwner) => Rights;

/** What callers may use by the section `access`, if there is one. */
function toRights(policy: AccessPolicy | undefined, hasAnswers: boolean, others: readonly string[]): RightsOf {
  const rightsOf = policy === undefined ? () => EVERYTHING : rightsBy(policy);
  if (hasAnswers) return rightsOf;
  // The same rights are the same object, for which documents are kept.
  const known = new WeakMap<Rights, Rights>();
  return (owner) => {
    const rights = rightsOf(owner);
    const restricted = known.get(rights) ?? withoutAnswers(rights, others);
    known.set(rights, restricted);
    return restricted;
  };
}

interface BootstrapOptions extends ConfigOptions {
  /** Clients are served, rather than a person in a terminal. */
  readonly serves?: boolean;
}

/** Loads the configuration and creates the runtime, or returns every problem in the configuration. */
export async function bootstrap(options: BootstrapOptions): Promise<Validated<Runtime>> {
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
  const hasAnswers = !options.serves || !isGatewayOnly(config);
  const others = config.checksAsTool || config.checksOverRest ? [CHECK_TOOL] : [];
  let rightsOf = toRights(access, hasAnswers, others);
  const value: Runtime = {
    config,
    clock,
    logger,
    redactor,
    rightsOf: (owner) => rightsOf(owner),
    access: () => access,
    prepareAccess: async (policy) => {
      const prepared = toRights(policy, hasAnswers, others);
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
