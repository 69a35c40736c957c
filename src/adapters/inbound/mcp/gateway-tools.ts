import { never } from '../../../application/async/deadline.ts';
import type { Gateway, VisibleGateway } from '../../../application/gateway/gateway.ts';
import type { Clock } from '../../../application/ports/clock.ts';
import type { ToolProgress } from '../../../application/ports/tool-server.ts';
import type { Rights } from '../../../domain/gateway/call-origin.ts';
import type { GatewayTool } from '../../../domain/gateway/gateway-tool.ts';
import type { ToolCallError } from '../../../domain/gateway/tool-call-error.ts';
import { exposedNames } from '../../../domain/gateway/unique-names.ts';
import { type Redactor, redactedValue } from '../../../domain/values/redaction.ts';
import { toolErrorText, unknownToolMessage } from '../words/tool-error-messages.ts';
import { type ErrorObject, failedResult, INTERNAL, isRequestId, METHOD_NOT_FOUND, type Params } from './json-rpc.ts';
import {
  LIST_WAIT_MS,
  type OnUnknownTool,
  PROGRESS_FLUSH_MS,
  type Send,
  type Tool,
  type ToolCall,
  type ToolReply,
  type ToolSet,
} from './tool-set.ts';

export interface GatewayToolsOptions {
  readonly builtIn: ToolSet;
  /** Starts the servers when it is called first. Undefined if none are configured. */
  readonly gateway: () => Promise<Gateway | undefined>;
  readonly notifiesOfChanges: boolean;
  readonly onUnknownTool?: OnUnknownTool | undefined;
  readonly clock: Clock;
  readonly redactor: Redactor;
}

export type NamedTools = ReadonlyMap<string, GatewayTool>;

/** The built-in tools and, named `server__tool`, those of the gateway's servers (ruling G23). */
export class GatewayTools<Options extends GatewayToolsOptions = GatewayToolsOptions> implements ToolSet {
  protected readonly options: Options;
  readonly isDynamic = true;
  readonly instructions: string | undefined;
  /** More tools that exist, whether they are listed or not. */
  protected readonly ownTools: readonly Tool[] = [];
  readonly notifiesOfChanges: boolean;
  #gateway: Gateway | undefined;
  /** The last list as JSON, and whose it is, if the client is notified of changes. */
  #listed: { readonly json: string; readonly rights: Rights } | undefined;

  constructor(options: Options) {
    this.options = options;
    this.notifiesOfChanges = options.notifiesOfChanges;
  }

  async prepare(rights: Rights, signal = never()): Promise<VisibleGateway | undefined> {
    this.#gateway = await this.options.gateway();
    const visible = this.#gateway?.as(rights);
    await visible?.whenStarted(LIST_WAIT_MS, signal);
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

  /** Whether the client has a list, which is no longer the current one. */
  get isListOutdated(): boolean {
    return this.#listed !== undefined && this.#listed.json !== JSON.stringify(this.#list(this.#listed.rights));
  }

  #list(rights: Rights): readonly Tool[] {
    return [...this.options.builtIn.list(rights), ...this.listOf(offeredIn(this.#gateway?.as(rights)))];
  }

  /** What is listed for these tools of servers. */
  protected listOf(named: NamedTools): readonly Tool[] {
    return [...named].map(([name, tool]) => toTool(name, tool));
  }

  call(call: ToolCall, notify: Send, signal: AbortSignal): Promise<ToolReply> | undefined {
    const reply = this.options.builtIn.call(call, notify, signal);
    return reply !== undefined || !call.name.includes('__') ? reply : this.callServer(call, notify, signal);
  }

  /** With `onlyReads`, a tool that is not read-only is refused. */
  protected async callServer(call: ToolCall, notify: Send, signal: AbortSignal, onlyReads = false): Promise<ToolReply> {
    const { clock, redactor, onUnknownTool = async () => 'unknown_tool' } = this.options;
    const gateway = call.name.includes('__') ? await this.options.gateway() : undefined;
    if (gateway === undefined) return onUnknownTool(call, false);
    this.#gateway = gateway;
    const { args, by, meta, observer } = call;
    const visible = gateway.as(by.rights());
    const find = () => namesOf(visible).get(call.name);
    const listed = find();
    let named = listed ?? addressed(visible, call.name);
    if (named === undefined) {
      await visible.whenStarted(LIST_WAIT_MS, signal);
      named = find();
    }
    if (named === undefined) {
      const isDenied = (namesOf(gateway).get(call.name) ?? addressed(gateway, call.name)) !== undefined;
      if (isDenied) by.onDenied?.();
      return onUnknownTool(call, isDenied);
    }
    const { progressToken } = meta;
    let progressMs = Number.NEGATIVE_INFINITY;
    const report = ({ message, ...progress }: ToolProgress) => {
      progressMs = clock.elapsedMs();
      const params = { ...progress, message: message && redactor.inLogs(message), progressToken };
      notify({ jsonrpc: '2.0', method: 'notifications/progress', params });
    };
    const { server, name: tool } = named;
    const onProgress = isRequestId(progressToken) ? report : undefined;
    const onEnded = observer?.onServerCallEnded?.bind(observer);
    // If the server has started in the meantime, a name with a hash can be understood.
    const nameWhenStarted = () => (listed === undefined ? find()?.name : undefined);
    const asked = { server, tool, args, by, onlyReads, onProgress, onEnded, nameWhenStarted };
    const outcome = await gateway.callTool(asked, signal);
    await clock.sleep(progressMs + PROGRESS_FLUSH_MS - clock.elapsedMs(), signal);
    if (outcome.isErr()) return toReply(outcome.error, redactor.inLogs);
    const { resultType: _, ...result } = outcome.value.raw;
    return { result };
  }
}

/** The tools that are offered, by their names. */
export function offeredIn(gateway: VisibleGateway | undefined): NamedTools {
  return new Map([...namesOf(gateway)].slice(0, gateway?.tools.length ?? 0));
}

/** The offered tools first. Also of the tools that are not offered: their names stay the same, and a call of them says why. */
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
function addressed({ servers }: VisibleGateway, name: string): Pick<GatewayTool, 'server' | 'name'> | undefined {
  const [server, other] = servers.filter((server) => name.startsWith(`${server.name}__`));
  return server && other === undefined ? { server: server.name, name: name.slice(server.name.length + 2) } : undefined;
}

export function toTool(name: string, tool: GatewayTool): Tool {
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
  if (error.kind === 'json_rpc') return { error: toServerError(error, redact) };
  return { result: failedResult(redact(toolErrorText(error))) };
}

/** An error of a server, as clients get it. */
export function toServerError(
  { code, message, data }: Extract<ToolCallError, { readonly kind: 'json_rpc' }>,
  redact: Redactor['inLogs'],
): ErrorObject {
  const error = { code: OUR_CODES.has(code) ? INTERNAL.code : code, message, data: data as Params | undefined };
  return redactedValue(error, redact);
}
