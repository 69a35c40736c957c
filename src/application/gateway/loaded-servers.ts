import type { AccessPolicy } from '../../domain/gateway/access.ts';
import type { ApprovedTools } from '../../domain/gateway/approved-tools.ts';
import { LOCAL_CALLER } from '../../domain/gateway/call-origin.ts';
import { matchesPattern } from '../../domain/gateway/gateway-tool.ts';
import type { Gateway } from './gateway.ts';
import type { ServerDefinition } from './server-definition.ts';

/** A gateway whose servers can be replaced by other ones of the configuration. */
interface ComposedGateway<Server> {
  readonly gateway: Gateway;
  /** If it rejects, nothing was changed. */
  readonly reconfigure: (servers: readonly Server[], approved: ApprovedTools | undefined) => Promise<void>;
  /** Warns about tools that `access` or the lock no longer match. */
  readonly warn: () => void;
}

/** The servers of a process that serves: their gateway is loaded with the first of them, which a reload may add. */
export class LoadedServers<Server> {
  readonly #load: () => Promise<ComposedGateway<Server>>;
  #loaded: ComposedGateway<Server> | undefined;
  #loading: Promise<void> | undefined;

  constructor(load: () => Promise<ComposedGateway<Server>>) {
    this.#load = load;
  }

  /** Undefined until servers are configured and the gateway is loaded. */
  get gateway(): Gateway | undefined {
    return this.#loaded?.gateway;
  }

  get isLoading(): boolean {
    return this.#loading !== undefined;
  }

  /** Resolves with the gateway when it is not being loaded any more. */
  async whenLoaded(): Promise<Gateway | undefined> {
    await this.#loading;
    return this.gateway;
  }

  /** Replaces the servers and the approved tools. If it rejects, nothing was changed. */
  async configure(servers: readonly Server[], approved: ApprovedTools | undefined): Promise<void> {
    if (this.#loaded !== undefined) return this.#loaded.reconfigure(servers, approved);
    if (servers.length === 0) return;
    const first = this.#first(servers, approved);
    this.#loading = first.catch(() => {});
    await first.finally(() => {
      this.#loading = undefined;
    });
  }

  /** Warns about tools that `access` no longer matches, after it has changed. */
  warn(): void {
    this.#loaded?.warn();
  }

  async #first(servers: readonly Server[], approved: ApprovedTools | undefined): Promise<void> {
    this.#loaded = await this.#load();
    await this.#loaded.reconfigure(servers, approved);
  }
}

/** The parts of a configuration that limit callers, and its text. */
interface Limits {
  readonly servers?: readonly Pick<ServerDefinition, 'name' | 'filter'>[];
  readonly access?: AccessPolicy;
  readonly lock?: object;
  readonly text?: string;
}

/** Why a reload must change nothing: the file was cut, or limits are missing, with their names. Undefined if it may be applied. */
export function reloadProblem(before: Limits, after: Limits): 'cut' | readonly string[] | undefined {
  if (isBeginning(after.text, before.text)) return 'cut';
  const missing = removedLimits(before, after);
  return missing.length > 0 ? missing : undefined;
}

/** Whether a text is cut. A cut inside of a character, and a file system after a crash, leave other characters at the end. */
function isBeginning(after = '', before = ''): boolean {
  const text = after.replace(/[\0\uFFFD]+$/, '').trimEnd();
  return text.length < before.trimEnd().length && before.startsWith(text);
}

/**
 * The limits of callers that a reload would remove. If a full disk cuts a file, its beginning is often valid, and would otherwise open
 * everything.
 */
function removedLimits(before: Limits, after: Limits): readonly string[] {
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
