import { err, ok, type Result } from 'neverthrow';
import type { ApprovedTools } from '../../domain/gateway/approved-tools.ts';
import type { CallOrigin } from '../../domain/gateway/call-origin.ts';
import { idOfUse, type LoginOwner, ownerOf } from '../../domain/gateway/login-owner.ts';
import type { ServerState, ToolCallError } from '../../domain/gateway/tool-call-error.ts';
import { BoundedMap } from '../../domain/values/bounded-map.ts';
import type { Definitions } from '../ports/tool-server.ts';
import type { PerCaller } from './server-definition.ts';
import type { ServerStatus, SupervisorOptions } from './server-description.ts';
import { ServerSupervisor } from './server-supervisor.ts';

/** Who looks at a server. Without a caller, only what all callers see in the same way is right. */
export type Viewer = Pick<CallOrigin, 'rights'> & Partial<Pick<CallOrigin, 'caller' | 'subject'>>;

/** The number of callers of whom is remembered whether they have a login. */
const MAX_REMEMBERED = 10_000;

/** States in which a caller's connection has ended, so that the next request begins another one. */
const ENDED: readonly ServerState[] = ['login_required', 'failed', 'stopped'];

/**
 * A server, as its callers use it: by one connection for all or, if each caller has a login, by one for each. Only the tools are then common: they are
 * known from the login of anyone.
 */
export class GatewayServer {
  /** The connection for all. With a login for each caller, it never starts, and has what is common to all. */
  readonly common: ServerSupervisor;
  readonly #options: SupervisorOptions;
  /** The connections of callers by the ID of their owner, with the one that is unused for longest first. */
  readonly #byOwner = new Map<string, ServerSupervisor>();
  readonly #owners = new Map<string, LoginOwner>();
  /** Whether callers had a login when that was last asked. */
  readonly #signedIn = new BoundedMap<string, boolean>(MAX_REMEMBERED);
  #isStopped = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.common = new ServerSupervisor(options);
  }

  /** Undefined if all callers have one login. */
  get perCaller(): PerCaller | undefined {
    return this.#options.perCaller;
  }

  /** The number of open connections of callers; undefined if all callers have one. */
  get connections(): number | undefined {
    if (this.perCaller === undefined) return undefined;
    return [...this.#byOwner.values()].filter(({ connection }) => connection !== undefined).length;
  }

  /** What a caller sees of the server now. Nothing starts. */
  seenBy(by: Viewer): ServerSupervisor {
    if (this.perCaller === undefined) return this.common;
    return this.#byOwner.get(idOf(by) ?? '') ?? this.common;
  }

  /** The connection for a request of a caller, which starts when it is used. */
  forRequest(by: Pick<CallOrigin, 'caller' | 'subject'>): Result<ServerSupervisor, ToolCallError> {
    const { perCaller, common } = this;
    if (perCaller === undefined) return ok(common);
    const owner = ownerOf(by);
    const { name: server, loginUrl: url } = common.definition;
    if (owner === undefined) return err({ kind: 'login_required', server, ...(url !== undefined && { url }) });
    const id = idOfUse(owner);
    const known = this.#byOwner.get(id);
    this.#forget(id);
    const isUsable = known !== undefined && (known.isUsed || !ENDED.includes(known.status.state));
    if (known !== undefined && !isUsable) void known.stop();
    if (!isUsable && !this.#makeRoom(perCaller.maxConnections))
      return err({ kind: 'overloaded', server, maxConcurrency: perCaller.maxConnections, unit: 'connections' });
    const supervisor = isUsable ? known : this.#begin(perCaller, owner);
    this.#byOwner.set(id, supervisor);
    this.#owners.set(id, owner);
    return ok(supervisor);
  }

  /** Asks whether a caller has a login, before `statusFor`. */
  async look(by: Viewer): Promise<void> {
    const owner = ownerBy(by);
    if (this.perCaller !== undefined && owner !== undefined)
      this.#signedIn.set(idOfUse(owner), (await this.perCaller.loginId(owner)) !== undefined);
  }

  /** The state of the server for a caller. */
  statusFor(by: Viewer): ServerStatus {
    const seen = this.seenBy(by);
    const status = seen.statusFor(by.rights);
    if (this.perCaller === undefined) return status;
    const hasLogin = this.#signedIn.get(idOf(by) ?? '') === true;
    const state = seen !== this.common && status.state !== 'idle' ? status.state : hasLogin ? 'available' : MISSING;
    const { login: _, loginUrl: __, ...others } = status;
    const { loginUrl } = this.common.definition;
    return { ...others, state, ...(state === MISSING && loginUrl !== undefined && { loginUrl }) };
  }

  approve(approved: ApprovedTools | undefined): void {
    for (const { list } of [this.common, ...this.#byOwner.values()]) list.approve(approved);
  }

  /** Starts the server, or lets the callers connect again with their next requests. */
  restart(): void {
    if (this.perCaller === undefined) this.common.restart();
    else this.#endWhere(() => true);
  }

  /** Ends the connections of callers who no longer exist. */
  endCallers(exists: (owner: LoginOwner) => boolean): void {
    this.#endWhere((id) => !exists(this.#owners.get(id) ?? { kind: 'local' }));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([this.common, ...this.#byOwner.values()].map((supervisor) => supervisor.stop()));
  }

  #endWhere(isEnded: (id: string) => boolean): void {
    for (const [id, supervisor] of this.#byOwner) {
      if (!isEnded(id)) continue;
      this.#forget(id);
      void supervisor.stop();
    }
  }

  #forget(id: string): void {
    this.#byOwner.delete(id);
    this.#owners.delete(id);
  }

  /** Ends the connection that is unused for longest, if there are too many. False if all are in use. */
  #makeRoom(max: number): boolean {
    if (this.#byOwner.size < max) return true;
    const unused = [...this.#byOwner].filter(([, { isUsed }]) => !isUsed);
    const [first] = [...unused.filter(([, { connection }]) => connection === undefined), ...unused];
    if (first === undefined) return false;
    this.#forget(first[0]);
    void first[1].stop();
    return true;
  }

  #begin({ serverFor }: PerCaller, owner: LoginOwner): ServerSupervisor {
    const { perCaller: _, ...options } = this.#options;
    const { logger } = options;
    const debug = (line: string) => logger.debug(line);
    const { known } = this.common.description;
    const supervisor: ServerSupervisor = new ServerSupervisor({
      ...options,
      definition: { ...options.definition, start: 'on_use', restart: 'never' },
      server: serverFor(owner),
      places: this.common.places,
      // Which resources there are is nothing that other callers may read.
      known: known && { ...known, shared: {}, leftOut: known.leftOut?.filter(({ list }) => list === 'tools') },
      approved: this.common.list.approved,
      logger: { isDebug: logger.isDebug, debug, warn: debug, error: (line) => logger.error(line) },
      keep: async (listed) => this.#adopt(listed, supervisor),
      onToolsChanged: () => {},
    });
    return supervisor;
  }

  /** Adds the tools that one caller's login has shown to those that all callers see. */
  #adopt({ shared: _, leftOut, ...listed }: Definitions, from: ServerSupervisor): void {
    if (this.#isStopped) return;
    const others = [...this.#byOwner.values()].filter((one) => one !== from && one.connection !== undefined);
    const names = new Set(listed.tools.map(({ name }) => name));
    const more = others.flatMap(({ list }) => list.listed ?? []).filter(({ name }) => !names.has(name));
    const tools = [...listed.tools, ...new Map(more.map((tool) => [tool.name, tool])).values()];
    const ofTools = leftOut?.filter(({ list }) => list === 'tools') ?? [];
    this.common.description.adopt({ ...listed, tools, leftOut: ofTools, shared: {} });
  }
}

const MISSING = 'login_required';

function ownerBy({ caller, subject }: Viewer): LoginOwner | undefined {
  return caller === undefined ? undefined : ownerOf({ caller, subject });
}

function idOf(by: Viewer): string | undefined {
  const owner = ownerBy(by);
  return owner && idOfUse(owner);
}
