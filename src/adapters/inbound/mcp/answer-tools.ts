import type { ToolCatalogue } from '../../../application/tools/tool-catalogue.ts';
import { BUILT_IN_SERVER, type Rights } from '../../../domain/gateway/call-origin.ts';
import type { GatewayTool } from '../../../domain/gateway/gateway-tool.ts';
import { unknownToolMessage } from '../words/tool-error-messages.ts';
import { type CallOptions, callTool } from './call-tool.ts';
import type { Send, Tool, ToolCall, ToolReply, ToolSet } from './tool-set.ts';

export interface AnswerToolsOptions extends CallOptions {
  readonly catalogue: Pick<ToolCatalogue, 'call' | 'has' | 'toolsFor'>;
}

/** The built-in tools, under their own names. */
export class AnswerTools implements ToolSet {
  readonly #options: AnswerToolsOptions;
  /** The latest list, which stays the same object while its tools do. */
  #latest: { readonly tools: readonly GatewayTool[]; readonly list: readonly Tool[] } = { tools: [], list: [] };

  constructor(options: AnswerToolsOptions) {
    this.#options = options;
  }

  list(rights: Rights): readonly Tool[] {
    const tools = this.#options.catalogue.toolsFor(rights).filter(({ server }) => server === BUILT_IN_SERVER);
    const { tools: latest } = this.#latest;
    const isSame = tools.length === latest.length && tools.every((tool, index) => tool === latest[index]);
    if (!isSame) this.#latest = { tools, list: tools.map((tool) => toTool(tool.name, tool)) };
    return this.#latest.list;
  }

  unknownTool(name: string, rights: Rights): string {
    const known = this.list(rights).map((tool) => tool.name);
    return unknownToolMessage(name, known);
  }

  has(name: string): boolean {
    return this.#options.catalogue.has(BUILT_IN_SERVER, name);
  }

  call(call: ToolCall, notify: Send, signal: AbortSignal): Promise<ToolReply> {
    const server = this.has(call.name) ? BUILT_IN_SERVER : '';
    return callTool({ server, tool: call.name }, call, this.#options, notify, signal);
  }
}

export function toTool(name: string, tool: GatewayTool): Tool {
  const { title, inputSchema, outputSchema, annotations, _meta } = tool;
  // The description is empty if the server sent none.
  const description = tool.description || undefined;
  return { name, title, description, inputSchema, outputSchema, annotations, _meta };
}
