import type { Result } from 'neverthrow';
import type { GatewayTool } from '../../domain/gateway/gateway-tool.ts';
import type { ToolServerError } from '../../domain/gateway/tool-call-error.ts';
import type { ToolResult } from '../../domain/gateway/tool-result.ts';
import type { TraceContext } from '../../domain/gateway/trace-context.ts';
import type { JsonObject } from '../../domain/values/json.ts';

/** Lists beside that of tools. Templates belong to resources. */
export type ChangingList = 'resources' | 'prompts';
/** Called when a server reports such a list as changed. Without it, servers are not asked to. */
export type OnListChanged = (server: string, list: ChangingList) => void;

/** What a connected server reports on its own. Must not throw. */
export interface ServerEvents {
  onToolsChanged(): void;
  readonly onListChanged?: ((list: ChangingList) => void) | undefined;
  /**
   * Once, unless `close` was called first: the process or the connection has ended. Later calls fail with `crashed`. The last line that a process
   * wrote may contain the input of a call.
   */
  onLost(reason: string, lastLine?: string): void;
}

/** Progress of a call, as the server reports it (MCP, notifications/progress). */
export interface ToolProgress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** A server whose tools can be called. A process that was started, or a connection to another machine. */
export interface ServerConnection {
  readonly transport: 'stdio' | 'http' | 'sse';
  readonly pid: number | undefined;
  readonly protocolVersion: string | undefined;
  /** What the server says of itself. */
  readonly serverInfo: JsonObject | undefined;
  /** What the server declares (MCP, `capabilities`). */
  readonly capabilities: JsonObject;
  /** The complete list, all pages. One of more than 1,000 tools is an `invalid_result`. Never rejects. */
  listTools(signal: AbortSignal): Promise<Result<readonly GatewayTool[], ToolServerError>>;
  /**
   * Never rejects, and settles soon after `signal` aborts, whatever the server does; the server is notified of the cancellation. A call
   * is sent at most once. If the server is lost, calls in flight fail with `crashed` within 100 ms. Without `onProgress`, the server is not
   * asked for progress.
   */
  callTool(
    name: string,
    args: JsonObject,
    options: {
      readonly onProgress?: ((progress: ToolProgress) => void) | undefined;
      /** Is passed on to the server; its baggage only if that is configured. */
      readonly trace?: TraceContext | undefined;
      /** That of the tool: it may mark arguments that a remote server needs as headers, too (SEP-2243). */
      readonly inputSchema?: JsonObject | undefined;
    },
    signal: AbortSignal,
  ): Promise<Result<ToolResult, ToolServerError>>;
  /** The entries of another list of MCP, which `method` asks for and which has the name `member` in its result. As `listTools`. */
  list(method: string, member: string, signal: AbortSignal): Promise<Result<readonly unknown[], ToolServerError>>;
  /** Sends another request of MCP, as `callTool`. */
  request(method: string, params: JsonObject, signal: AbortSignal): Promise<Result<JsonObject, ToolServerError>>;
  /** Ends the server, and its complete process tree if it is one. Calls in flight fail. Resolves when nothing is left. */
  close(): Promise<void>;
}

/** The login of a remote server, which a person makes. */
export interface ServerLogin {
  /** Why a person must sign in, with the command: what follows the server's name in a sentence. A connection that begins to lack a login ends. */
  readonly required: string | undefined;
  /** Notifies of a new, replaced or deleted login; of a renewed one only while a login is required. Returns the removal. */
  onChanged(listener: () => void): () => void;
}

/** An MCP server that can be started any number of times. */
export interface ToolServer {
  /** Never rejects; an error is the reason for people. After `signal` aborts, it settles soon and leaves nothing. */
  connect(events: ServerEvents, signal: AbortSignal): Promise<Result<ServerConnection, string>>;
  /** Absent if the server never needs one. */
  readonly login?: ServerLogin | undefined;
}
