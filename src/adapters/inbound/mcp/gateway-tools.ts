import type { Gateway } from '../../../application/gateway.ts';
import { exposedName, hashedName } from '../../../domain/exposed-name.ts';
import type { GatewayTool } from '../../../domain/gateway-tool.ts';
import { withoutUndefined } from '../../../domain/json.ts';
import type { ToolCallError } from '../../../domain/tool-call-error.ts';
import { toolErrorCode } from '../tool-error-codes.ts';
import { toolErrorMessage } from '../tool-error-messages.ts';
import type { Send, Tool, ToolCall, ToolReply, ToolSet } from './tool-set.ts';

/** How long a list waits for servers that are starting (ruling G23). */
const LIST_WAIT_MS = 5000;

export interface GatewayToolsOptions {
  /** The tools that the program has itself. */
  readonly builtIn: ToolSet;
  /** Starts the servers when it is called first. Undefined if none are configured. */
  readonly gateway: () => Promise<Gateway | undefined>;
  readonly notifiesOfChanges: boolean;
}

/** The built-in tools and, named `server__tool`, those of the gateway's servers (ruling G23). */
export class GatewayTools implements ToolSet {
  readonly #options: GatewayToolsOptions;
  readonly #calls = new Map<string, AbortController>();
  #gateway: Gateway | undefined;

  constructor(options: GatewayToolsOptions) {
    this.#options = options;
  }

  readonly isDynamic = true;

  get notifiesOfChanges(): boolean {
    return this.#options.notifiesOfChanges;
  }

  async prepare(): Promise<void> {
    this.#gateway = await this.#options.gateway();
    await this.#gateway?.whenStarted(LIST_WAIT_MS, new AbortController().signal);
  }

  list(): readonly Tool[] {
    const named = namesOf(this.#gateway?.tools ?? []);
    return [...this.#options.builtIn.list(), ...[...named].map(([name, tool]) => toTool(name, tool))];
  }

  call(call: ToolCall, notify: Send): Promise<ToolReply> | undefined {
    const reply = this.#options.builtIn.call(call, notify);
    if (reply !== undefined || !call.name.includes('__')) return reply;
    const controller = new AbortController();
    this.#calls.set(call.requestKey, controller);
    return this.#call(call, notify, controller.signal).finally(() => this.#calls.delete(call.requestKey));
  }

  cancel(requestKey: string): void {
    this.#calls.get(requestKey)?.abort();
    this.#options.builtIn.cancel(requestKey);
  }

  async #call(call: ToolCall, notify: Send, signal: AbortSignal): Promise<ToolReply> {
    const gateway = await this.#options.gateway();
    this.#gateway = gateway;
    if (gateway === undefined) return 'unknown_tool';
    const named = namesOf(gateway.tools).get(call.name) ?? addressed(gateway, call.name);
    if (named === undefined) return 'unknown_tool';
    const { progressToken } = call.meta;
    const input = {
      server: named.server,
      tool: named.name,
      args: call.args,
      onProgress: (progress: object) => {
        if (progressToken === undefined) return;
        notify({ jsonrpc: '2.0', method: 'notifications/progress', params: { ...progress, progressToken } });
      },
      ...withoutUndefined({ onEnded: call.observer?.onServerCallEnded?.bind(call.observer) }),
    };
    return (await gateway.callTool(input, signal)).match(({ raw }) => {
      const { resultType: _, ...result } = raw;
      return { result };
    }, toReply);
  }
}

/** Names are unique: the hash of a name that is taken distinguishes it. */
function namesOf(tools: readonly GatewayTool[]): ReadonlyMap<string, GatewayTool> {
  const named = new Map<string, GatewayTool>();
  for (const tool of tools) {
    const name = exposedName(tool.server, tool.name);
    named.set(named.has(name) ? hashedName(tool.server, tool.name) : name, tool);
  }
  return named;
}

/** The server and the tool that a name means although the tool is not listed, because its server is not available. */
function addressed({ servers }: Gateway, name: string): Pick<GatewayTool, 'server' | 'name'> | undefined {
  const server = servers.find((server) => name.startsWith(`${server.name}__`));
  return server && { server: server.name, name: name.slice(server.name.length + 2) };
}

function toTool(name: string, { title, description, inputSchema, outputSchema, annotations }: GatewayTool): Tool {
  return withoutUndefined({ name, title, description, inputSchema, outputSchema, annotations });
}

/** An error of the server is passed on; what happened to the server is a result, which a model can read. */
function toReply(error: ToolCallError): ToolReply {
  if (error.kind === 'cancelled') return 'cancelled';
  if (error.kind === 'unknown_tool' || error.kind === 'unknown_server') return 'unknown_tool';
  if (error.kind === 'json_rpc') {
    const { code, message, data } = error;
    return { error: { code, message, ...(data === undefined ? {} : { data: data as never }) } };
  }
  const text = `${toolErrorCode(error)}: ${toolErrorMessage(error)}`;
  return { result: { content: [{ type: 'text', text }], isError: true } };
}
