import type { ApprovedTools } from '../../domain/gateway/approved-tools.ts';
import { mayUseName, type Rights } from '../../domain/gateway/call-origin.ts';
import type { GatewayTool } from '../../domain/gateway/gateway-tool.ts';
import type { LeftOut } from '../../domain/gateway/shared-entries.ts';
import { loginCommand, type ServerState } from '../../domain/gateway/tool-call-error.ts';
import { type JsonObject, withoutUndefined } from '../../domain/values/json.ts';
import { never, untilAborted, withDeadline } from '../async/deadline.ts';
import type { Places } from '../async/places.ts';
import { GrowingWait } from '../async/waits.ts';
import type { Services } from '../ports/services.ts';
import type { Definitions, OnListChanged } from '../ports/tool-server.ts';
import type { ConfiguredServer, RunningServer } from './server-definition.ts';
import { SharedLists } from './shared-lists.ts';
import { ToolList } from './tool-list.ts';

/** How long the end of a server waits until its lists are kept. */
const KEEP_MS = 1000;

export interface SupervisorOptions extends ConfiguredServer, Pick<Services, 'clock' | 'logger'> {
  readonly approved?: ApprovedTools | undefined;
  /** Whether callers share the servers. The last line of a lost server may then contain the input of another caller. */
  readonly isShared?: boolean | undefined;
  readonly onToolsChanged: () => void;
  readonly onListChanged?: OnListChanged | undefined;
  /** The places for calls, if other connections to the server share them. */
  readonly places?: Places | undefined;
}

/** The description that a server gives of itself, now or when it last ran. */
export class ServerDescription {
  readonly tools: ToolList;
  readonly shared: SharedLists;
  readonly #options: SupervisorOptions;
  readonly #server: RunningServer;
  #known: Definitions | undefined;
  #keeping: Promise<void> = Promise.resolve();
  #learning: Promise<void> = Promise.resolve();
  readonly #wait: GrowingWait;

  constructor(options: SupervisorOptions, server: RunningServer) {
    const { definition, clock, logger, approved, known } = options;
    this.#options = options;
    this.#server = server;
    this.#known = known;
    this.#wait = new GrowingWait(clock);
    const leftOut = known?.leftOut ?? [];
    const kept = known && { ...known, leftOut: leftOut.filter(({ list }) => list === 'tools') };
    this.tools = new ToolList({ ...definition, logger }, approved, kept);
    const shared = { entries: known?.shared ?? {}, leftOut: leftOut.filter(({ list }) => list !== 'tools') };
    this.shared = new SharedLists(server, clock, shared, () => this.#onChanged());
  }

  /** What the server listed that no one gets. */
  get leftOut(): readonly LeftOut[] {
    return [...this.tools.leftOut, ...this.shared.leftOut];
  }

  /** Undefined if the server has never listed its tools. */
  get known(): Definitions | undefined {
    return this.#known;
  }

  /** Whether callers can use the tools: the server is available, or a call waits for its start. */
  get isOffered(): boolean {
    return this.#server.connection !== undefined || (this.#known !== undefined && this.#server.isIdle);
  }

  /** The capabilities that the server declares, or last declared; undefined while it is not offered. */
  get capabilities(): JsonObject | undefined {
    return this.#server.connection?.capabilities ?? (this.isOffered ? this.#known?.capabilities : undefined);
  }

  /** Resolves when the complete description of a connected server was read. */
  get whenLearned(): Promise<void> {
    return this.#learning;
  }

  /** Resolves when the description is kept, or after a second, so that a folder that does not respond cannot delay the end. */
  async whenKept(): Promise<void> {
    await withDeadline(this.#options.clock, KEEP_MS, never(), (limit) => untilAborted(this.#keeping, limit));
  }

  /** Reads the description of a server that has listed its tools. */
  learn(): void {
    this.#onChanged();
    this.#learning = this.shared.readAll();
  }

  /** Takes what another connection to the same server has shown. */
  adopt(known: Definitions): void {
    const { keep, onToolsChanged } = this.#options;
    this.tools.adopt({ tools: known.tools, leftOut: known.leftOut ?? [] });
    this.#known = known;
    if (keep !== undefined) this.#keeping = this.#keeping.then(() => keep(known));
    onToolsChanged();
  }

  async readToolsAgain(signal: AbortSignal): Promise<void> {
    const { logger, clock, definition } = this.#options;
    const { connection } = this.#server;
    if (connection === undefined) return;
    const startedMs = clock.elapsedMs();
    // A server that does not answer must not block the notices of later changes.
    const { outcome: listed } = await withDeadline(clock, definition.startupTimeoutMs, signal, async (limit) =>
      this.tools.read(connection, limit),
    );
    if (connection !== this.#server.connection) return;
    if (listed.isOk()) this.#onChanged();
    else logger.warn(`gateway: ${definition.name}: ${listed.error}; the list of tools stays as it was`);
    // Reading a large list may take at most a tenth of the time, and a list that always changes is read ever more rarely.
    const shareMs = Math.min(10_000, 10 * (clock.elapsedMs() - startedMs));
    await clock.sleep(Math.max(shareMs, this.#wait.next()), signal);
  }

  /** Keeps the description for the time when the server does not run. */
  #onChanged(): void {
    const { clock, keep, onToolsChanged } = this.#options;
    const { capabilities, serverInfo } = this.#server.connection ?? {};
    if (capabilities !== undefined) {
      const { listed: tools = [] } = this.tools;
      const { leftOut, shared } = this;
      const known = { listedAt: clock.now(), tools, leftOut, capabilities, serverInfo, shared: shared.entries };
      this.#known = known;
      if (keep !== undefined) this.#keeping = this.#keeping.then(() => keep(known));
    }
    onToolsChanged();
  }
}

export type ServerStatus = ReturnType<typeof toStatus>;

interface Life {
  readonly state: ServerState;
  readonly since: Date;
  readonly starts: number;
  readonly lastError: string | undefined;
  /** The known description of a server that does not run. */
  readonly kept: Definitions | undefined;
  readonly leftOut: readonly LeftOut[];
}

/** The state of a server for people and monitoring, with the tools that these rights allow. */
export function toStatus(
  server: RunningServer & Readonly<Record<'tools' | 'changed', readonly GatewayTool[]>>,
  { state, since, starts, lastError, kept, leftOut: allLeftOut }: Life,
  rights: Rights,
) {
  const { definition, connection } = server;
  const { name, transport } = definition;
  const { mayUse } = rights;
  const changed = server.changed.filter(mayUse).map(({ name }) => name);
  const mayKnow = ({ list, name: entry }: LeftOut) =>
    list === 'tools' ? mayUseName(rights, name, entry) : rights.mayRead(name);
  const leftOut = allLeftOut.filter(mayKnow);
  return withoutUndefined({
    name,
    transport: connection?.transport ?? transport,
    state,
    since,
    /** The number of starts after the first. */
    restarts: Math.max(0, starts - 1),
    tools: server.tools.filter(mayUse).length,
    /** When the tools were listed, if the server does not run. */
    listedAt: kept?.listedAt,
    /** Tools that are not offered, because they are new or have changed since they were approved. */
    changed: changed.length > 0 ? changed : undefined,
    /** What the server listed that no one gets. */
    leftOut: leftOut.length > 0 ? leftOut : undefined,
    pid: connection?.pid,
    lastError,
    /** The command with which a person must sign in first. */
    login: state === 'login_required' ? loginCommand(name) : undefined,
    /** The address at which a caller must sign in first, in place of the command. */
    loginUrl: undefined as string | undefined,
    protocolVersion: connection?.protocolVersion,
    serverInfo: (connection ?? kept)?.serverInfo,
  });
}
