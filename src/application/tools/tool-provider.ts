import type { Rights } from '../../domain/gateway/call-origin.ts';
import type { GatewayTool } from '../../domain/gateway/gateway-tool.ts';
import type { ToolCallError } from '../../domain/gateway/tool-call-error.ts';
import type { ObservedCall, ToolCall, ToolOutcome } from './tool-call.ts';

/** The tool that a call names; undefined if there is none. `problem`: why the tool cannot be called now, or is not known. */
export interface FoundTool {
  readonly tool?: GatewayTool | undefined;
  readonly problem?: ToolCallError | undefined;
}

/** Offers tools. It checks no rights: the catalogue calls it only for callers who may use the tool. */
export interface ToolProvider {
  /** The servers of its tools: configured servers, or `BUILT_IN_SERVER` for tools of the program itself. */
  readonly serverNames: readonly string[];
  /** The tools that exist now, as callers with these rights see them. */
  toolsFor(rights: Rights): readonly GatewayTool[];
  /** Whether the tools of a server are known. Absent if they always are. */
  isOffered?(server: string): boolean;
  /** The time limit of a call in milliseconds, if its caller allows `wantedMs`. */
  limitMs(server: string, wantedMs: number): number;
  /** Waits for lists that are not known yet, such as the tools of a server that is starting. */
  find(call: ToolCall, signal: AbortSignal): FoundTool | Promise<FoundTool>;
  /** Calls a tool that was found, by its own name. Ends with `cancelled` soon after `signal` aborts; rejects only because of a bug. */
  call(call: ObservedCall, signal: AbortSignal): Promise<ToolOutcome>;
}
