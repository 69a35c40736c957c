import type { VisibleGateway } from '../../../application/gateway/gateway.ts';
import { matchesPattern } from '../../../domain/gateway/gateway-tool.ts';
import { findTools, MAX_QUERY } from '../../../domain/gateway/tool-search.ts';
import { isObject } from '../../../domain/values/json.ts';
import { SEARCH } from '../words/mcp-messages.ts';
import { toTool } from './answer-tools.ts';
import { GatewayTools, type GatewayToolsOptions, type NamedTools, offeredIn } from './gateway-tools.ts';
import { failedResult } from './json-rpc.ts';
import { MAX_FOUND, SEARCH_TOOLS } from './search-schemas.ts';
import type { Send, Tool, ToolCall, ToolReply } from './tool-set.ts';

/** With more tools of servers, `auto` means `search`. */
const MAX_LISTED = 40;

export interface SearchToolsOptions extends GatewayToolsOptions {
  /** Whether all tools are listed for a caller who has few. */
  readonly isAuto: boolean;
  /** The tools that are always listed: `server/tool`, with `*` at either end of the tool's name for any text. */
  readonly always: readonly string[];
}

/** Lists, in place of the tools of servers, three tools that find and call them. */
export class SearchTools extends GatewayTools<SearchToolsOptions> {
  override readonly instructions = SEARCH.instructions;
  protected override readonly ownTools = SEARCH_TOOLS;

  protected override listOf(named: NamedTools): readonly Tool[] {
    const { isAuto, always } = this.options;
    if (isAuto && named.size <= MAX_LISTED) return super.listOf(named);
    const listed = [...named].filter(([, { server, name }]) =>
      always.some((entry) => entry.startsWith(`${server}/`) && matchesPattern(name, entry.slice(server.length + 1))),
    );
    return [...SEARCH_TOOLS, ...super.listOf(new Map(listed))];
  }

  override call(call: ToolCall, notify: Send, signal: AbortSignal): Promise<ToolReply> {
    if (call.name === 'find_tools') return this.#find(call, signal);
    if (/^(?:read|call)_tool$/.test(call.name)) return this.#callFound(call, notify, signal);
    return super.call(call, notify, signal);
  }

  async #find({ name, args, by, observer }: ToolCall, signal: AbortSignal): Promise<ToolReply> {
    const startedMs = this.options.clock.elapsedMs();
    const { query, limit: wanted } = args;
    const limit = Number.isInteger(wanted) ? Number(wanted) : wanted == null ? MAX_FOUND : 0;
    if (typeof query !== 'string') return toError(SEARCH.wrong('query', 'a text'));
    if (limit < 1 || limit > MAX_FOUND) return toError(SEARCH.wrong('limit', `an integer from 1 to ${MAX_FOUND}`));
    const gateway = await this.prepare(by.rights, signal);
    if (signal.aborted) return 'cancelled';
    const found = this.#search(gateway, query, limit);
    // No server saw the call: the report is for the quota and the access log.
    const seconds = (this.options.clock.elapsedMs() - startedMs) / 1000;
    observer?.onEnded({ server: '', tool: name, outcome: 'answered', seconds });
    return { result: { content: [{ type: 'text', text: JSON.stringify(found) }], structuredContent: found } };
  }

  #search(gateway: VisibleGateway | undefined, query: string, limit: number) {
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

  async #callFound(call: ToolCall, notify: Send, signal: AbortSignal): Promise<ToolReply> {
    const { name, arguments: received } = call.args;
    const args = received ?? {};
    if (typeof name !== 'string') return toError(SEARCH.wrong('name', 'a text'));
    if (!isObject(args)) return toError(SEARCH.wrong('arguments', 'an object'));
    const reply = await this.callServer({ ...call, name, args }, notify, signal, call.name === 'read_tool');
    return reply === 'unknown_tool' ? toError(SEARCH.unknownTool(name)) : reply;
  }
}

function toError(text: string): ToolReply {
  return { result: failedResult(text) };
}
