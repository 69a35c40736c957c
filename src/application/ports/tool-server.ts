import type { Result } from 'neverthrow';
import type { GatewayTool } from '../../domain/gateway/gateway-tool.ts';
import type { ToolServerError } from '../../domain/gateway/tool-call-error.ts';
import type { ToolResult } from '../../domain/gateway/tool-result.ts';
import type { JsonObject } from '../../domain/values/json.ts';

/** What a connected server reports on its own. Must not throw. */
export interface ServerEvents {
  /** The list of tools has changed. */
  onToolsChanged(): void;
  /** Once, unless `close` was called first: the process or the connection has ended. Later calls fail with `crashed`. */
  onLost(reason: string): void;
}

/** Progress of a call, as the server reports it (MCP, notifications/progress). */
export interface ToolProgress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** A tool of a list, and a short text that is different if the server describes the tool differently. */
export interface ListedTool {
  readonly tool: GatewayTool;
  readonly fingerprint: string;
}

/** A server whose tools can be called. A process that was started, or a connection to another machine. */
export interface ServerConnection {
  readonly transport: 'stdio' | 'http' | 'sse';
  readonly pid: number | undefined;
  readonly protocolVersion: string | undefined;
  readonly serverInfo: JsonObject | undefined;
  /** The complete list, all pages. One of more than 1,000 tools or 8 MiB is an `invalid_result`. Never rejects. */
  listTools(signal: AbortSignal): Promise<Result<readonly ListedTool[], ToolServerError>>;
  /**
   * Never rejects, and settles soon after `signal` aborts, whatever the server does; the server is notified of the cancellation. A call
   * is sent at most once. If the server is lost, calls in flight fail with `crashed` within 100 ms. Without `onProgress`, the server is not
   * asked for progress.
   */
  callTool(
    name: string,
    args: JsonObject,
    onProgress: ((progress: ToolProgress) => void) | undefined,
    signal: AbortSignal,
  ): Promise<Result<ToolResult, ToolServerError>>;
  /** Ends the server, and its complete process tree if it is one. Calls in flight fail. Resolves when nothing is left. */
  close(): Promise<void>;
}

/** The login of a remote server, which a person makes (ruling O3). */
export interface ServerLogin {
  /**
   * Why a person must sign in before the server can be used, with the command: what follows the server's name in a sentence. Undefined
   * if that is not what it lacks. A connection that begins to lack it ends (`onLost`).
   */
  readonly required: string | undefined;
  /**
   * Notifies of a new or deleted login, and of another one in its place; of a renewed one only while a login is required. Returns the removal.
   */
  onChanged(listener: () => void): () => void;
}

/** An MCP server that can be started any number of times. */
export interface ToolServer {
  /** Never rejects; an error is the reason for people. After `signal` aborts, it settles soon and leaves nothing. */
  connect(events: ServerEvents, signal: AbortSignal): Promise<Result<ServerConnection, string>>;
  /** Absent if the server never needs one. */
  readonly login?: ServerLogin | undefined;
}
