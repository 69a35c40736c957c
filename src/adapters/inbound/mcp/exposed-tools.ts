import type { ToolCatalogue } from '../../../application/tools/tool-catalogue.ts';
import { BUILT_IN_SERVER, type CallOrigin, type Rights } from '../../../domain/gateway/call-origin.ts';
import type { GatewayTool } from '../../../domain/gateway/gateway-tool.ts';
import { unknownToolMessage } from '../words/tool-error-messages.ts';
import { type ClientCallOptions, callForClient } from './client-call.ts';
import { SentLists } from './lists.ts';
import type { ServerTools } from './server-tools.ts';
import { type ClientCall, type Send, type Tool, type ToolReply, type ToolSet, toTool } from './tool-set.ts';

export interface ExposedToolsOptions extends ClientCallOptions {
  readonly catalogue: Pick<ToolCatalogue, 'call' | 'has' | 'toolsFor'>;
  /** Loaded with the servers; undefined if their tools are not offered. */
  readonly servers?: ServerTools | undefined;
}

/** The tools that MCP clients see: those of the program, and then those of the servers. */
export class ExposedTools implements ToolSet {
  readonly #options: ExposedToolsOptions;
  readonly isDynamic: boolean;
  readonly notifiesOfChanges: boolean;
  readonly instructions: string | undefined;
  /** The latest list of own tools, which stays the same object while its tools do. */
  #own: { readonly tools: readonly GatewayTool[]; readonly list: readonly Tool[] } = { tools: [], list: [] };
  readonly #sent = new SentLists<'tools'>();

  constructor(options: ExposedToolsOptions) {
    const { servers } = options;
    this.#options = options;
    this.isDynamic = servers !== undefined;
    this.notifiesOfChanges = servers?.notifiesOfChanges === true;
    this.instructions = servers?.instructions;
  }

  prepare(rights: Rights): Promise<unknown> | undefined {
    return this.#options.servers?.prepare(rights);
  }

  signIns(by: CallOrigin): Promise<readonly string[]> | undefined {
    return this.#options.servers?.signIns(by);
  }

  list(rights: Rights): readonly Tool[] {
    const tools = this.#list(rights);
    if (this.notifiesOfChanges) this.#sent.keep('tools', tools, rights);
    return tools;
  }

  /** Whether the list that the client has is no longer the current one. True only once until the client lists again. */
  takeOutdated(): boolean {
    return this.#sent.takeOutdated((_, rights) => this.#list(rights)).length > 0;
  }

  unknownTool(name: string, rights: Rights): string {
    const { servers } = this.#options;
    const own = this.#ownTools(rights).map((tool) => tool.name);
    const ofServers = servers === undefined ? [] : servers.names(rights);
    return unknownToolMessage(name, [...own, ...(ofServers ?? [])], ofServers !== undefined);
  }

  call(call: ClientCall, notify: Send, signal: AbortSignal): Promise<ToolReply> {
    const { catalogue, servers } = this.#options;
    const isOwn = catalogue.has(BUILT_IN_SERVER, call.name);
    if (!isOwn && servers !== undefined) return servers.call(call, notify, signal);
    const named = { server: isOwn ? BUILT_IN_SERVER : '', tool: call.name };
    return callForClient(named, { call, notify }, this.#options, signal);
  }

  #list(rights: Rights): readonly Tool[] {
    const { servers } = this.#options;
    const own = this.#ownTools(rights);
    return servers === undefined ? own : [...own, ...servers.list(rights)];
  }

  #ownTools(rights: Rights): readonly Tool[] {
    const tools = this.#options.catalogue.toolsFor(rights).filter(({ server }) => server === BUILT_IN_SERVER);
    const { tools: latest } = this.#own;
    const isSame = tools.length === latest.length && tools.every((tool, index) => tool === latest[index]);
    if (!isSame) this.#own = { tools, list: tools.map((tool) => toTool(tool.name, tool)) };
    return this.#own.list;
  }
}
