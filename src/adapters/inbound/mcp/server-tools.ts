import { never } from '../../../application/async/deadline.ts';
import { type Gateway, LIST_WAIT_MS } from '../../../application/gateway/gateway.ts';
import type { VisibleGateway } from '../../../application/gateway/visible-gateway.ts';
import { type CallOrigin, mayUseName, type Rights } from '../../../domain/gateway/call-origin.ts';
import { type GatewayTool, matchesPattern } from '../../../domain/gateway/gateway-tool.ts';
import { withExposedLinks } from '../../../domain/gateway/shared-entries.ts';
import { loginCommand } from '../../../domain/gateway/tool-call-error.ts';
import { findTools, MAX_QUERY } from '../../../domain/gateway/tool-search.ts';
import { mayHaveHash, toolsByName } from '../../../domain/gateway/unique-names.ts';
import { isObject } from '../../../domain/values/json.ts';
import { SEARCH, SIGN_IN } from '../words/mcp-messages.ts';
import { type ClientCallOptions, callForClient } from './client-call.ts';
import { failedResult } from './json-rpc.ts';
import { MAX_FOUND, SEARCH_TOOLS } from './search-schemas.ts';
import { type ClientCall, type Send, type Tool, type ToolReply, toTool } from './tool-set.ts';

export interface ServerToolsOptions extends ClientCallOptions {
  /** Starts the servers at the first call. Resolves with undefined if none are configured. */
  readonly gateway: () => Promise<Gateway | undefined>;
  /** `true`: the list has every tool; `search`: in their place, three tools that find and call them; `auto`: `search` if they are many. */
  readonly expose: boolean | 'search' | 'auto';
  /** The tools that are listed in any case: `server/tool`, with `*` at either end of the tool's name for any text. */
  readonly always?: readonly string[];
  readonly notifiesOfChanges: boolean;
  /** The names of all configured servers, if they start with a list or a call. */
  readonly configured?: readonly string[] | undefined;
}

interface ServerCall extends ClientCall {
  /** Whether a tool that is not read-only is refused. */
  readonly onlyReads?: boolean;
}

/** With more tools of servers, `auto` means `search`. */
const MAX_LISTED = 40;

/** The tools of the servers, which clients see as `server__tool`. Loaded with the servers. */
export class ServerTools {
  readonly #options: ServerToolsOptions;
  readonly notifiesOfChanges: boolean;
  readonly instructions: string | undefined;
  readonly #isSearch: boolean;
  #gateway: Gateway | undefined;

  constructor(options: ServerToolsOptions) {
    this.#options = options;
    this.notifiesOfChanges = options.notifiesOfChanges;
    this.#isSearch = typeof options.expose === 'string';
    this.instructions = this.#isSearch ? SEARCH.instructions : undefined;
  }

  /** Waits, for a limited time, for lists that are not known yet. */
  async prepare(rights: Rights, signal = never()): Promise<VisibleGateway | undefined> {
    this.#gateway = await this.#options.gateway();
    const visible = this.#gateway?.as({ rights });
    await visible?.whenListed(LIST_WAIT_MS, signal);
    return visible;
  }

  /** At which servers the caller must sign in first, as sentences. Starts no server. */
  async signIns(by: CallOrigin): Promise<readonly string[]> {
    const { notifiesOfChanges: isSession, gateway, ownCommand } = this.#options;
    const visible = (isSession ? this.#gateway : await gateway())?.as(by);
    await visible?.whenLooked(never());
    return (visible?.servers ?? []).flatMap(({ name, login, loginUrl }) => {
      if (loginUrl !== undefined) return SIGN_IN.at(name, loginUrl);
      return login === undefined || !isSession ? [] : SIGN_IN.with(name, loginCommand(name, ownCommand));
    });
  }

  list(rights: Rights): readonly Tool[] {
    const { expose, always = [] } = this.#options;
    const named = [...offeredIn(this.#gateway?.as({ rights }))];
    const isAll = !this.#isSearch || (expose === 'auto' && named.length <= MAX_LISTED);
    const isListed = ({ server, name }: GatewayTool) =>
      always.some((entry) => entry.startsWith(`${server}/`) && matchesPattern(name, entry.slice(server.length + 1)));
    const listed = named.filter(([, tool]) => isAll || isListed(tool)).map(([name, tool]) => toTool(name, tool));
    return isAll ? listed : [...SEARCH_TOOLS, ...listed];
  }

  /** The names that a client may call, listed or not; undefined if the servers were not asked yet. */
  names(rights: Rights): readonly string[] | undefined {
    if (this.#gateway === undefined) return undefined;
    const ofSearch = this.#isSearch ? SEARCH_TOOLS.map(({ name }) => name) : [];
    return [...ofSearch, ...offeredIn(this.#gateway.as({ rights })).keys()];
  }

  call(call: ClientCall, notify: Send, signal: AbortSignal): Promise<ToolReply> {
    if (this.#isSearch && call.name === 'find_tools') return this.#find(call, signal);
    if (this.#isSearch && /^(?:read|call)_tool$/.test(call.name)) return this.#callFound(call, notify, signal);
    return this.#call(call, notify, signal);
  }

  async #call(call: ServerCall, notify: Send, signal: AbortSignal): Promise<ToolReply> {
    const { name } = call;
    const { configured = [] } = this.#options;
    const gateway = this.#mayBeUsable(call) ? await this.#options.gateway() : undefined;
    const found = gateway === undefined ? addressed(configured, name) : await this.#named(gateway, call, signal);
    const named = found ?? { server: '', tool: name };
    const reply = await callForClient({ ...named, onlyReads: call.onlyReads }, { call, notify }, this.#options, signal);
    const hasLinks = typeof reply === 'object' && 'result' in reply && gateway?.hasResources(named.server) === true;
    return hasLinks ? { result: withExposedLinks(reply.result, named.server) } : reply;
  }

  /** Whether the servers have to be started to find the tool. A call that access refuses by its name starts none. */
  #mayBeUsable({ name, by: { rights } }: ClientCall): boolean {
    const { configured } = this.#options;
    if (configured === undefined) return name.includes('__');
    const toolOf = (server: string) => name.slice(server.length + 2);
    const servers = configured.filter((server) => name.startsWith(`${server}__`) && rights.sees(server));
    return servers.some((server) => mayHaveHash(name) || mayUseName(rights, server, toolOf(server)));
  }

  /** Finds the tool that a name means, even if the caller may not use it: the catalogue refuses the call. */
  async #named(gateway: Gateway, { name, by }: ClientCall, signal: AbortSignal) {
    this.#gateway = gateway;
    const { configured = [] } = this.#options;
    const visible = gateway.as(by);
    const find = (of: Parameters<typeof toolsByName>[0]) => {
      const tool = toolsByName(of).get(name);
      return tool && { server: tool.server, tool: tool.name };
    };
    const listed = find(visible);
    if (listed !== undefined) return listed;
    const servers = visible.servers.map((server) => server.name);
    const addressing = addressed(servers, name);
    if (addressing !== undefined) return { ...addressing, exposedName: mayHaveHash(name) ? name : undefined };
    await visible.whenListed(LIST_WAIT_MS, signal);
    return find(visible) ?? find(gateway) ?? addressed([...new Set([...gateway.serverNames, ...configured])], name);
  }

  async #find({ name, args, by, on }: ClientCall, signal: AbortSignal): Promise<ToolReply> {
    const { clock } = this.#options;
    const startedMs = clock.elapsedMs();
    const { query, limit: wanted } = args;
    const limit = Number.isInteger(wanted) ? Number(wanted) : wanted == null ? MAX_FOUND : 0;
    if (typeof query !== 'string') return toError(SEARCH.wrong('query', 'a text'));
    if (limit < 1 || limit > MAX_FOUND) return toError(SEARCH.wrong('limit', `an integer from 1 to ${MAX_FOUND}`));
    const gateway = await this.prepare(by.rights, signal);
    if (signal.aborted) return 'cancelled';
    const found = search(gateway, query, limit);
    // No server saw the call: the report is for the quota and the access log.
    const seconds = (clock.elapsedMs() - startedMs) / 1000;
    on?.({ kind: 'ended', report: { server: '', tool: name, outcome: 'answered', seconds } });
    return { result: { content: [{ type: 'text', text: JSON.stringify(found) }], structuredContent: found } };
  }

  async #callFound(call: ClientCall, notify: Send, signal: AbortSignal): Promise<ToolReply> {
    const { name, arguments: received } = call.args;
    const args = received ?? {};
    if (typeof name !== 'string') return toError(SEARCH.wrong('name', 'a text'));
    if (!isObject(args)) return toError(SEARCH.wrong('arguments', 'an object'));
    const reply = await this.#call({ ...call, name, args, onlyReads: call.name === 'read_tool' }, notify, signal);
    return reply === 'unknown_tool' ? toError(SEARCH.unknownTool(name)) : reply;
  }
}

function search(gateway: VisibleGateway | undefined, query: string, limit: number) {
  if (query.slice(0, MAX_QUERY).trim() === '') {
    const servers = (gateway?.servers ?? []).map(({ name, tools }) => ({ name, tools }));
    return { tools: [], matches: 0, servers };
  }
  const named = offeredIn(gateway);
  const matching = findTools([...named.values()], query);
  const names = new Map([...named].map(([name, tool]) => [tool, name]));
  const best = matching.slice(0, limit).map((tool) => toTool(names.get(tool) ?? '', tool));
  return { tools: best, matches: matching.length };
}

/** The tools that are offered, by their names. */
function offeredIn(gateway: VisibleGateway | undefined): ReadonlyMap<string, GatewayTool> {
  return new Map(gateway && [...toolsByName(gateway)].slice(0, gateway.tools.length));
}

/**
 * The server and the tool that a name means although the tool is not listed, because its server is not available. Undefined if it could mean
 * tools of two servers (`a___b`): the call must not reach the wrong one.
 */
function addressed(servers: readonly string[], name: string) {
  const [server, other] = servers.filter((server) => name.startsWith(`${server}__`));
  return server !== undefined && other === undefined ? { server, tool: name.slice(server.length + 2) } : undefined;
}

function toError(text: string): ToolReply {
  return { result: failedResult(text) };
}
