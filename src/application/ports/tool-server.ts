import type { Result } from 'neverthrow';
import type { GatewayTool } from '../../domain/gateway/gateway-tool.ts';
import type { ToolServerError } from '../../domain/gateway/tool-call-error.ts';
import type { ToolResult } from '../../domain/gateway/tool-result.ts';
import type { TraceContext } from '../../domain/gateway/trace-context.ts';
import type { JsonObject } from '../../domain/values/json.ts';

/** Lists other than that of tools. Templates belong to resources. */
export type ChangingList = 'resources' | 'prompts';
/** Called when a server reports such a list as changed. Without a listener, servers are not asked for these reports. */
export type OnListChanged = (server: string, list: ChangingList) => void;

/** Receives the events of a connected server. Must not throw. */
export interface ServerEvents {
  onToolsChanged(): void;
  readonly onListChanged?: ((list: ChangingList) => void) | undefined;
  /**
   * The process or the connection has ended. Called once, unless `close` was called first. Later calls fail with `crashed`. The last line of a process
   * may contain the input of a call.
   */
  onLost(reason: string, lastLine?: string): void;
}

/** Progress of a call, as the server reports it (MCP, notifications/progress). */
export interface ToolProgress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** A running server: a child process, or a connection to another machine. */
export interface ServerConnection {
  readonly transport: 'stdio' | 'http' | 'sse';
  readonly pid: number | undefined;
  readonly protocolVersion: string | undefined;
  /** The server's description of itself (MCP, `serverInfo`). */
  readonly serverInfo: JsonObject | undefined;
  /** The declared capabilities (MCP, `capabilities`). */
  readonly capabilities: JsonObject;
  /** The complete list, from all pages. A list of more than 1,000 tools is an `invalid_result`. Never rejects. */
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
      /** The trace context for the server. Baggage is sent only if that is configured. */
      readonly trace?: TraceContext | undefined;
      /** The schema of the tool, which can mark arguments that a remote server also needs as headers (SEP-2243). */
      readonly inputSchema?: JsonObject | undefined;
    },
    signal: AbortSignal,
  ): Promise<Result<ToolResult, ToolServerError>>;
  /** Like `listTools`, for another list of MCP: `method` requests it, and its result has it in `member`. */
  list(method: string, member: string, signal: AbortSignal): Promise<Result<readonly unknown[], ToolServerError>>;
  /** Like `callTool`, for another request of MCP. */
  request(method: string, params: JsonObject, signal: AbortSignal): Promise<Result<JsonObject, ToolServerError>>;
  /** Ends the server, with its complete process tree. Calls in flight fail. Resolves when nothing is left. */
  close(): Promise<void>;
}

/** The login of a person to a remote server. */
export interface ServerLogin {
  /** Why a person must sign in, with the command, as the part of a sentence after the server's name. A connection ends when its login does. */
  readonly required: string | undefined;
  /** Notifies of a new, replaced or deleted login, and of a renewed one while a login is required. Returns a function that removes the listener. */
  onChanged(listener: () => void): () => void;
}

/** An MCP server that can be started any number of times. */
export interface ToolServer {
  /** Starts the server. Never rejects; an error is the reason, for people. After `signal` aborts, it settles soon and leaves nothing. */
  connect(events: ServerEvents, signal: AbortSignal): Promise<Result<ServerConnection, string>>;
  /** Absent if the server never needs one. */
  readonly login?: ServerLogin | undefined;
}
