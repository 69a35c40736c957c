import { err, ok, type Result } from 'neverthrow';
import type { CallOrigin, Rights } from '../../domain/gateway/call-origin.ts';
import {
  exposedEntries,
  parseEntry,
  parseGatewayUri,
  type SharedEntry,
  type SharedList,
  withAskedUri,
} from '../../domain/gateway/shared-entries.ts';
import type { ToolCallError, ToolServerError } from '../../domain/gateway/tool-call-error.ts';
import { withTrace } from '../../domain/gateway/trace-context.ts';
import { templateTest } from '../../domain/gateway/uri-template.ts';
import type { JsonObject } from '../../domain/values/json.ts';
import { never, withDeadline } from '../async/deadline.ts';
import type { Clock } from '../ports/clock.ts';
import type { ServerConnection } from '../ports/tool-server.ts';
import type { Gateway } from './gateway.ts';
import { runOnServer, withTimeout } from './run-on-server.ts';
import type { ServerSupervisor } from './server-supervisor.ts';

/** The time of a list, starts included (ruling T15), and how long it is used to find out whose a URI or a prompt is. */
const LIST_MS = 5000;

const CAPABILITY = { resources: 'resources', resourceTemplates: 'resources', prompts: 'prompts' } as const;
const METHODS = { resources: 'resources/list', resourceTemplates: 'resources/templates/list', prompts: 'prompts/list' };

/** What servers may have beside tools, as they declare it. */
export const CAPABILITIES = ['resources', 'prompts', 'completions'] as const;
export type Capability = (typeof CAPABILITIES)[number];

/** A request about a prompt or a resource. */
export interface SharedRequest {
  readonly method: string;
  readonly kind: 'prompt' | 'resource';
  /** The exposed name, or the URI. */
  readonly id: string;
  /** The parameters, with what the server calls it. */
  readonly toParams: (id: string) => JsonObject;
}

/** What is known of a list of a server. */
interface Known {
  /** What it listed last, also if it has failed since. */
  entries?: readonly SharedEntry[];
  endedMs: number;
  /** All callers share it. */
  reading: Promise<readonly SharedEntry[] | undefined> | undefined;
}

/** A server whose list has failed, and was never known, is asked for it again after this time. */
const FAILED_MS = 30_000;

/** The resources, prompts and completions of the gateway's servers, as those of one server (rulings T15 and T17). Nothing rejects. */
export class SharedResources {
  readonly #gateway: Pick<Gateway, 'readable' | 'whenStarted'>;
  readonly #clock: Clock;
  /** Also of servers that are not available now. */
  readonly #known = new WeakMap<ServerSupervisor, Map<SharedList, Known>>();

  constructor(gateway: Pick<Gateway, 'readable' | 'whenStarted'>, clock: Clock) {
    this.#gateway = gateway;
    this.#clock = clock;
  }

  /** The names of the servers that are available to a caller. */
  available(rights: Rights): readonly string[] {
    return this.#gateway.readable(rights).flatMap((one) => (one.connection === undefined ? [] : nameOf(one)));
  }

  /** Whether an available server has this; first starts are waited for if none has it yet. */
  async has(capability: Capability, rights: Rights, signal: AbortSignal): Promise<boolean> {
    const isKnown = this.#gateway.readable(rights).some((server) => has(server, capability));
    return isKnown || (await this.capabilities(rights, signal)).includes(capability);
  }

  /** What the available servers have, after their first starts. */
  async capabilities(rights: Rights, signal: AbortSignal): Promise<readonly Capability[]> {
    const servers = await this.#started(this.#gateway.readable(rights), signal);
    return CAPABILITIES.filter((one) => servers.some((server) => has(server, one)));
  }

  /** A list of all servers, as it is now; for a later page, as it was some seconds ago. */
  async list(list: SharedList, isContinued: boolean, { rights }: CallOrigin): Promise<readonly JsonObject[]> {
    const servers = this.#gateway.readable(rights());
    const endMs = this.#clock.elapsedMs() + LIST_MS;
    const lists = servers.map(async (server) => {
      await this.#started([server], never());
      if (server.connection === undefined || !has(server, CAPABILITY[list])) return [];
      const { entries, endedMs } = this.#knownOf(server, list);
      const isKnown = isContinued && this.#clock.elapsedMs() - endedMs < LIST_MS;
      return (isKnown && entries) || ((await this.#read(server, list, endMs - this.#clock.elapsedMs())) ?? []);
    });
    return exposedEntries(list, (await Promise.all(lists)).flat(), servers.map(nameOf));
  }

  /** An `unknown_server` is that no server of the caller has such a resource or prompt. */
  async ask(
    { method, kind, id, toParams }: SharedRequest,
    by: CallOrigin,
    signal: AbortSignal,
  ): Promise<Result<JsonObject, ToolCallError>> {
    const isPrompt = kind === 'prompt';
    const found = await (isPrompt ? this.#promptOf(id, by, signal) : this.#resourceOf(id, by, signal));
    if (found === undefined) return UNKNOWN;
    const [server, own] = found;
    const isCompletion = method === 'completion/complete';
    const { timeoutMs } = server.definition;
    const params = withTrace(toParams(own), by.trace);
    const send = async (
      connection: ServerConnection,
      limit: AbortSignal,
    ): Promise<Result<JsonObject, ToolCallError | ToolServerError>> => {
      // The rights may have changed while the request was waiting.
      if (!by.rights().mayRead(nameOf(server))) return UNKNOWN;
      if (connection.capabilities[isPrompt ? 'prompts' : 'resources'] === undefined) return UNKNOWN;
      const isEmpty = isCompletion && connection.capabilities.completions === undefined;
      return isEmpty ? ok({ completion: { values: [] } }) : connection.request(method, params, limit);
    };
    const outcome = await withTimeout(this.#clock, timeoutMs, signal, async (limit) => {
      await server.whenStarted(limit);
      return runOnServer(server, by.caller, (connection) => send(connection, limit), limit);
    });
    return isCompletion || isPrompt ? outcome : outcome.map((result) => withAskedUri(result, own, id));
  }

  /** The server of a URI, and the URI there. */
  async #resourceOf(uri: string, { rights }: CallOrigin, signal: AbortSignal) {
    const readable = this.#gateway.readable(rights());
    const addressed = parseGatewayUri(uri);
    const named = readable.find((server) => nameOf(server) === addressed?.server);
    if (addressed !== undefined && named !== undefined) return [named, addressed.uri] as const;
    const findOwners = () =>
      readable.filter((server) => has(server, 'resources') || this.#knownOf(server, 'resources').entries !== undefined);
    const listsOf = (owner: ServerSupervisor, isFresh: boolean) =>
      Promise.all((['resources', 'resourceTemplates'] as const).map((list) => this.#entries(owner, list, isFresh)));
    const firstThatLists = async (lists: readonly ReturnType<typeof listsOf>[]) => {
      for (const [index, ofOwner] of lists.entries())
        if ((await ofOwner).some((entries) => entries?.some(({ id }) => id === uri))) return index;
      return -1;
    };
    // Most URIs are listed by a server that is available: no start of another one is waited for.
    const isStarting = readable.some(({ status }) => status.state === 'starting');
    if (isStarting || findOwners().length > 1) {
      const owners = findOwners();
      const owner = owners[await firstThatLists(owners.map((owner) => listsOf(owner, false)))];
      if (owner !== undefined) return [owner, uri] as const;
      await this.#started(readable, signal);
    }
    const owners = findOwners();
    // It would get the URI in any case.
    if (owners[0] !== undefined && owners.length === 1 && addressed === undefined) return [owners[0], uri] as const;
    const reading = owners.map((owner) => listsOf(owner, true));
    const listed = owners[await firstThatLists(reading)];
    if (listed !== undefined) return [listed, uri] as const;
    const lists = await Promise.all(reading);
    // A server whose list is not known may be the one; and the name of one that does not exist for this caller must not lead to another.
    if (addressed !== undefined || lists.flat().includes(undefined)) return undefined;
    const owner = owners[lists.findIndex(([, templates]) => templates?.map(({ id }) => id).some(templateTest(uri)))];
    return owner && ([owner, uri] as const);
  }

  /** The server of a prompt, and its name there. */
  async #promptOf(name: string, { rights }: CallOrigin, signal: AbortSignal) {
    const readable = this.#gateway.readable(rights());
    const candidates = readable.filter((server) => name.startsWith(`${nameOf(server)}__`));
    await this.#started(candidates, signal);
    let hasUnknown = false;
    for (const isFresh of [false, true]) {
      const lists = await Promise.all(candidates.map((server) => this.#entries(server, 'prompts', isFresh)));
      hasUnknown = lists.includes(undefined);
      const entries = lists.flatMap((list) => list ?? []);
      const exposed = exposedEntries('prompts', entries, readable.map(nameOf));
      const found = entries[exposed.findIndex((entry) => entry.name === name)];
      const server = candidates.find((one) => nameOf(one) === found?.server);
      if (server !== undefined && found !== undefined) return [server, found.id] as const;
    }
    const [server, other] = candidates;
    // What a server has is not known while it is not available, or too busy to say.
    const isAddressed = server !== undefined && other === undefined && (hasUnknown || server.connection === undefined);
    return isAddressed ? ([server, name.slice(nameOf(server).length + 2)] as const) : undefined;
  }

  async #started(servers: readonly ServerSupervisor[], signal: AbortSignal) {
    await this.#gateway.whenStarted(LIST_MS, signal, servers.map(nameOf));
    return servers;
  }

  /** What a server lists, as it is known, or as it is now (`isFresh`). Undefined if it was never known. */
  async #entries(server: ServerSupervisor, list: SharedList, isFresh: boolean) {
    const { entries, endedMs } = this.#knownOf(server, list);
    if (server.connection === undefined) return entries;
    if (!has(server, CAPABILITY[list])) return [];
    const ageMs = this.#clock.elapsedMs() - endedMs;
    if (entries === undefined) return ageMs < FAILED_MS ? undefined : this.#read(server, list);
    if (isFresh) return (await this.#read(server, list)) ?? entries;
    if (ageMs >= LIST_MS) void this.#read(server, list);
    return entries;
  }

  /** What a server lists now; undefined if it fails. */
  #read(server: ServerSupervisor, list: SharedList, maxMs = LIST_MS): Promise<readonly SharedEntry[] | undefined> {
    const known = this.#knownOf(server, list);
    known.reading ??= this.#request(server, list, maxMs).then((entries) => {
      known.reading = undefined;
      known.endedMs = this.#clock.elapsedMs();
      if (entries !== undefined) known.entries = entries;
      return entries;
    });
    return known.reading;
  }

  async #request(server: ServerSupervisor, list: SharedList, maxMs: number) {
    const limitMs = Math.min(maxMs, server.definition.timeoutMs);
    // One request per list: its places are not those of a caller.
    const { outcome } = await withDeadline(this.#clock, limitMs, never(), (limit) =>
      runOnServer(server, list, (connection) => connection.list(METHODS[list], list, limit), limit),
    );
    return outcome.isOk() ? outcome.value.flatMap((one) => parseEntry(nameOf(server), list, one) ?? []) : undefined;
  }

  #knownOf(server: ServerSupervisor, list: SharedList): Known {
    const ofServer = this.#known.get(server) ?? new Map<SharedList, Known>();
    this.#known.set(server, ofServer);
    const known = ofServer.get(list) ?? { endedMs: Number.NEGATIVE_INFINITY, reading: undefined };
    ofServer.set(list, known);
    return known;
  }
}

const UNKNOWN = err({ kind: 'unknown_server' as const, server: '', known: [] });

/** Whether a server is available, and declares that it has this. */
function has({ connection }: ServerSupervisor, capability: Capability): boolean {
  return connection?.capabilities[capability] !== undefined;
}

function nameOf({ definition }: ServerSupervisor): string {
  return definition.name;
}
