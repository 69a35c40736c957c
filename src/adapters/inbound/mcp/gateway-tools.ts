import { never } from '../../../application/async/deadline.ts';
import type { Gateway } from '../../../application/gateway/gateway.ts';
import type { Clock } from '../../../application/ports/clock.ts';
import type { ToolProgress } from '../../../application/ports/tool-server.ts';
import type { GatewayTool } from '../../../domain/gateway/gateway-tool.ts';
import type { ToolCallError } from '../../../domain/gateway/tool-call-error.ts';
import { exposedNames } from '../../../domain/gateway/unique-names.ts';
import { type Redactor, redactedValue } from '../../../domain/values/redaction.ts';
import { toolErrorCode, toolErrorMessage, unknownToolMessage } from '../words/tool-error-messages.ts';
import { INTERNAL, isRequestId, METHOD_NOT_FOUND, type Params } from './json-rpc.ts';
import {
  LIST_WAIT_MS,
  PROGRESS_FLUSH_MS,
  type Send,
  type Tool,
  type ToolCall,
  type ToolReply,
  type ToolSet,
} from './tool-set.ts';

export interface GatewayToolsOptions {
  /** The tools that the program has itself. */
  readonly builtIn: ToolSet;
  /** Starts the servers when it is called first. Undefined if none are configured. */
  readonly gateway: () => Promise<Gateway | undefined>;
  readonly notifiesOfChanges: boolean;
  readonly clock: Clock;
  readonly redactor: Redactor;
}

/** The built-in tools and, named `server__tool`, those of the gateway's servers (ruling G23). */
export class GatewayTools implements ToolSet {
  readonly #options: GatewayToolsOptions;
  readonly isDynamic = true;
  readonly notifiesOfChanges: boolean;
  #gateway: Gateway | undefined;
  /** The last list as JSON, if the client is notified of changes. */
  #listed: string | undefined;

  constructor(options: GatewayToolsOptions) {
    this.#options = options;
    this.notifiesOfChanges = options.notifiesOfChanges;
  }

  async prepare(): Promise<void> {
    this.#gateway = await this.#options.gateway();
    await this.#gateway?.whenStarted(LIST_WAIT_MS, never());
  }

  list(): readonly Tool[] {
    const tools = this.#list();
    if (this.notifiesOfChanges) this.#listed = JSON.stringify(tools);
    return tools;
  }

  unknownTool(name: string): string {
    const names = this.#list().map((tool) => tool.name);
    return unknownToolMessage(name, names);
  }

  /** Whether the client has a list, which is no longer the current one. */
  get isListOutdated(): boolean {
    return this.#listed !== undefined && this.#listed !== JSON.stringify(this.#list());
  }

  #list(): readonly Tool[] {
    const named = namesOf(this.#gateway);
    return [...this.#options.builtIn.list(), ...[...named].map(([name, tool]) => toTool(name, tool))];
  }

  call(call: ToolCall, notify: Send, signal: AbortSignal): Promise<ToolReply> | undefined {
    const reply = this.#options.builtIn.call(call, notify, signal);
    return reply !== undefined || !call.name.includes('__') ? reply : this.#call(call, notify, signal);
  }

  async #call(call: ToolCall, notify: Send, signal: AbortSignal): Promise<ToolReply> {
    const gateway = await this.#options.gateway();
    this.#gateway = gateway;
    if (gateway === undefined) return 'unknown_tool';
    const { args, caller, meta } = call;
    const { progressToken } = meta;
    const { clock, redactor } = this.#options;
    let progressMs = Number.NEGATIVE_INFINITY;
    const execute = ({ server, name }: Pick<GatewayTool, 'server' | 'name'>) => {
      const report = ({ message, ...progress }: ToolProgress) => {
        progressMs = clock.elapsedMs();
        const params = { ...progress, message: message && redactor.inLogs(message), progressToken };
        notify({ jsonrpc: '2.0', method: 'notifications/progress', params });
      };
      const onProgress = isRequestId(progressToken) ? report : undefined;
      const onEnded = call.observer?.onServerCallEnded?.bind(call.observer);
      return gateway.callTool({ server, tool: name, args, caller, onProgress, onEnded }, signal);
    };
    const find = () => namesOf(gateway).get(call.name);
    const listed = find();
    let named = listed ?? addressed(gateway, call.name);
    if (named === undefined) {
      await gateway.whenStarted(LIST_WAIT_MS, signal);
      named = find();
    }
    if (named === undefined) return 'unknown_tool';
    let outcome = await execute(named);
    // If the server has started in the meantime, a name with a hash can be understood now.
    const known = listed === undefined ? find() : undefined;
    if (outcome.isErr() && outcome.error.kind === 'unknown_tool' && known !== undefined) outcome = await execute(known);
    await clock.sleep(progressMs + PROGRESS_FLUSH_MS - clock.elapsedMs(), signal);
    if (outcome.isErr()) return toReply(outcome.error, redactor.inLogs);
    const { resultType: _, ...result } = outcome.value.raw;
    return { result };
  }
}

function namesOf(gateway: Gateway | undefined): ReadonlyMap<string, GatewayTool> {
  const { tools = [], servers = [] } = gateway ?? {};
  const configured = servers.map(({ name }) => name);
  const names = exposedNames(tools, configured);
  return new Map(tools.map((tool, index) => [names[index] ?? '', tool]));
}

/**
 * The server and the tool that a name means although the tool is not listed, because its server is not available. Undefined if it could mean
 * tools of two servers (`a___b`): the call must not reach the wrong one.
 */
function addressed({ servers }: Gateway, name: string): Pick<GatewayTool, 'server' | 'name'> | undefined {
  const [server, other] = servers.filter((server) => name.startsWith(`${server.name}__`));
  return server && other === undefined ? { server: server.name, name: name.slice(server.name.length + 2) } : undefined;
}

function toTool(name: string, tool: GatewayTool): Tool {
  const { title, inputSchema, outputSchema, annotations } = tool;
  // Empty if the server gave none.
  const description = tool.description || undefined;
  return { name, title, description, inputSchema, outputSchema, annotations };
}

/** To a client, these would be about this server, and over HTTP they have a status: unknown method; headers, capabilities, version. */
const OUR_CODES: ReadonlySet<number> = new Set([METHOD_NOT_FOUND, -32020, -32021, -32022]);

/** An error of the server is passed on; what happened to the server is a result, which a model can read. */
function toReply(error: ToolCallError, redact: Redactor['inLogs']): ToolReply {
  if (error.kind === 'cancelled') return 'cancelled';
  if (error.kind === 'unknown_tool' || error.kind === 'unknown_server') return 'unknown_tool';
  if (error.kind === 'json_rpc') {
    const { message, data } = error;
    const code = OUR_CODES.has(error.code) ? INTERNAL.code : error.code;
    return { error: redactedValue({ code, message, data: data as Params | undefined }, redact) };
  }
  const text = redact(`${toolErrorCode(error)}: ${toolErrorMessage(error)}`);
  return { result: { content: [{ type: 'text', text }], isError: true } };
}
