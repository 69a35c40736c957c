import { never } from '../../../application/async/deadline.ts';
import { type Gateway, LIST_WAIT_MS, type VisibleGateway } from '../../../application/gateway/gateway.ts';
import { mayUseName, type Rights } from '../../../domain/gateway/call-origin.ts';
import type { GatewayTool } from '../../../domain/gateway/gateway-tool.ts';
import { withExposedLinks } from '../../../domain/gateway/shared-entries.ts';
import { exposedNames, mayHaveHash } from '../../../domain/gateway/unique-names.ts';
import { unknownToolMessage } from '../words/tool-error-messages.ts';
import { type AnswerTools, toTool } from './answer-tools.ts';
import { type CallOptions, callTool } from './call-tool.ts';
import type { Send, Tool, ToolCall, ToolReply, ToolSet } from './tool-set.ts';

export interface GatewayToolsOptions extends CallOptions {
  readonly builtIn: Pick<AnswerTools, 'list' | 'has' | 'call'>;
  /** Starts the servers at the first call. Resolves with undefined if none are configured. */
  readonly gateway: () => Promise<Gateway | undefined>;
  readonly notifiesOfChanges: boolean;
  /** The names of all configured servers, if they start with a list or a call. */
  readonly configured?: readonly string[] | undefined;
}

export type NamedTools = ReadonlyMap<string, GatewayTool>;

/** The built-in tools and, named `server__tool`, those of the gateway's servers. */
export class GatewayTools<Options extends GatewayToolsOptions = GatewayToolsOptions> implements ToolSet {
  protected readonly options: Options;
  readonly isDynamic = true;
  readonly instructions: string | undefined;
  /** Further built-in tools, which exist whether they are listed or not. */
  protected readonly ownTools: readonly Tool[] = [];
  readonly notifiesOfChanges: boolean;
  #gateway: Gateway | undefined;
  /** The last list as JSON, with the rights of its caller, if the client is notified of changes. */
  #listed: { readonly json: string; readonly rights: Rights } | undefined;

  constructor(options: Options) {
    this.options = options;
    this.notifiesOfChanges = options.notifiesOfChanges;
  }

  async prepare(rights: Rights, signal = never()): Promise<VisibleGateway | undefined> {
    this.#gateway = await this.options.gateway();
    const visible = this.#gateway?.as(rights);
    await visible?.whenListed(LIST_WAIT_MS, signal);
    return visible;
  }

  list(rights: Rights): readonly Tool[] {
    const tools = this.#list(rights);
    if (this.notifiesOfChanges) this.#listed = { json: JSON.stringify(tools), rights };
    return tools;
  }

  unknownTool(name: string, rights: Rights): string {
    const own = [...this.options.builtIn.list(rights), ...this.ownTools].map((tool) => tool.name);
    return unknownToolMessage(name, [...own, ...offeredIn(this.#gateway?.as(rights)).keys()]);
  }

  /** Whether the list that the client has is no longer the current one. True only once until the client lists again. */
  takeOutdated(): boolean {
    const listed = this.#listed;
    if (listed === undefined || listed.json === JSON.stringify(this.#list(listed.rights))) return false;
    this.#listed = undefined;
    return true;
  }

  #list(rights: Rights): readonly Tool[] {
    return [...this.options.builtIn.list(rights), ...this.listOf(offeredIn(this.#gateway?.as(rights)))];
  }

  /** The entries of the list for these tools of servers. */
  protected listOf(named: NamedTools): readonly Tool[] {
    return [...named].map(([name, tool]) => toTool(name, tool));
  }

  call(call: ToolCall, notify: Send, signal: AbortSignal): Promise<ToolReply> {
    const { builtIn } = this.options;
    return builtIn.has(call.name) ? builtIn.call(call, notify, signal) : this.callServer(call, notify, signal);
  }

  /** With `onlyReads`, a tool that is not read-only is refused. */
  protected async callServer(call: ToolCall, notify: Send, signal: AbortSignal, onlyReads = false): Promise<ToolReply> {
    const { name } = call;
    const { configured = [] } = this.options;
    const gateway = this.#mayBeUsable(call) ? await this.options.gateway() : undefined;
    const found = gateway === undefined ? addressed(configured, name) : await this.#named(gateway, call, signal);
    const named = found ?? { server: '', tool: name };
    const reply = await callTool({ ...named, onlyReads }, call, this.options, notify, signal);
    const hasLinks = typeof reply === 'object' && 'result' in reply && gateway?.hasResources(named.server) === true;
    return hasLinks ? { result: withExposedLinks(reply.result, named.server) } : reply;
  }

  /** Whether the servers have to be started to find the tool. A call that access refuses by its name starts none. */
  #mayBeUsable({ name, by: { rights } }: ToolCall): boolean {
    const { configured } = this.options;
    if (configured === undefined) return name.includes('__');
    const toolOf = (server: string) => name.slice(server.length + 2);
    const servers = configured.filter((server) => name.startsWith(`${server}__`) && rights.sees(server));
    return servers.some((server) => mayHaveHash(name) || mayUseName(rights, server, toolOf(server)));
  }

  /** Finds the tool that a name means, even if the caller may not use it: the catalogue refuses the call. */
  async #named(gateway: Gateway, { name, by }: ToolCall, signal: AbortSignal) {
    this.#gateway = gateway;
    const { configured = [] } = this.options;
    const visible = gateway.as(by.rights);
    const find = (of: VisibleGateway) => {
      const tool = namesOf(of).get(name);
      return tool && { server: tool.server, tool: tool.name };
    };
    const listed = find(visible);
    if (listed !== undefined) return listed;
    const addressing = addressed(
      visible.servers.map(({ name }) => name),
      name,
    );
    // A name with a hash can be resolved only after the server has started.
    const nameWhenStarted = mayHaveHash(name) ? () => find(visible)?.tool : undefined;
    if (addressing !== undefined) return { ...addressing, nameWhenStarted };
    await visible.whenListed(LIST_WAIT_MS, signal);
    return find(visible) ?? find(gateway) ?? addressed([...new Set([...gateway.serverNames, ...configured])], name);
  }
}

/** The tools that are offered, by their names. */
export function offeredIn(gateway: VisibleGateway | undefined): NamedTools {
  return new Map([...namesOf(gateway)].slice(0, gateway?.tools.length ?? 0));
}

/** Names the offered tools, and then those that have changed: names stay the same, and a call of a changed tool says why it is not offered. */
function namesOf(gateway: VisibleGateway | undefined): NamedTools {
  const { tools: offered = [], changed = [], servers = [] } = gateway ?? {};
  const tools = [...offered, ...changed];
  const configured = servers.map(({ name }) => name);
  const names = exposedNames(tools, configured);
  return new Map(tools.map((tool, index) => [names[index] ?? '', tool]));
}

/**
 * The server and the tool that a name means although the tool is not listed, because its server is not available. Undefined if it could mean
 * tools of two servers (`a___b`): the call must not reach the wrong one.
 */
function addressed(servers: readonly string[], name: string) {
  const [server, other] = servers.filter((server) => name.startsWith(`${server}__`));
  return server !== undefined && other === undefined ? { server, tool: name.slice(server.length + 2) } : undefined;
}
