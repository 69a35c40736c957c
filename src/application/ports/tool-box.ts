import type { Result } from 'neverthrow';
import type { GatewayTool } from '../../domain/gateway-tool.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { ToolCallError } from '../../domain/tool-call-error.ts';
import type { ToolResult } from '../../domain/tool-result.ts';

/** The user's own tools, as an answer uses them. */
export interface ToolBox {
  /**
   * The tools of these servers that are available, and the names of those that are not. Starts servers that were not started, and waits
   * for first starts, for at most `maxMs`.
   */
  list(
    servers: readonly string[],
    maxMs: number,
    signal: AbortSignal,
  ): Promise<{ readonly tools: readonly GatewayTool[]; readonly unavailable: readonly string[] }>;
  /** Checks the arguments against the tool's schema. Never rejects, runs a tool at most once, and settles soon after `signal` aborts. */
  call(
    tool: GatewayTool,
    args: JsonObject,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<Result<ToolResult, ToolCallError>>;
}
