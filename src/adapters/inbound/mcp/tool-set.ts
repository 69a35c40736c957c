import type { CallEvent } from '../../../application/tools/tool-call.ts';
import type { CallOrigin, Rights } from '../../../domain/gateway/call-origin.ts';
import type { Asker } from '../../../domain/gateway/elicitation.ts';
import type { GatewayTool } from '../../../domain/gateway/gateway-tool.ts';
import type { Era } from './era.ts';
import type { ErrorObject, OutgoingMessage, Params } from './json-rpc.ts';
import type { Repeatable } from './retries.ts';

/** Time for a busy client to read the last progress: the official clients drop progress that they read with the response. */
export const PROGRESS_FLUSH_MS = 25;

/** A tool as in `tools/list`. */
export interface Tool extends Params {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema: Params;
  readonly annotations?: Params | undefined;
}

export function toTool(name: string, tool: GatewayTool): Tool {
  const { title, inputSchema, outputSchema, annotations, _meta } = tool;
  // The description is empty if the server sent none.
  const description = tool.description || undefined;
  return { name, title, description, inputSchema, outputSchema, annotations, _meta };
}

/** A `tools/call` request with a valid name and arguments. */
export interface ClientCall {
  readonly name: string;
  readonly args: Params;
  /** The `_meta` of the request, if it is an object. */
  readonly meta: Params;
  readonly era: Era;
  readonly by: CallOrigin;
  readonly on?: ((event: CallEvent) => void) | undefined;
  /** Asks a client with a session of an earlier revision. */
  readonly asker?: Asker | undefined;
  /** For a client of MCP 2026-07-28, which gets questions as results. */
  readonly repeatable?: Repeatable | undefined;
  /** The capabilities that such a client declared with the request. */
  readonly declared?: Params | undefined;
}

export type Reply = { readonly result: Params } | { readonly error: ErrorObject };

/** The outcome of a call; a cancelled call gets no response. */
export type ToolReply = Reply | 'cancelled' | 'unknown_tool';

/** Sends a message to the client. Messages arrive in the order of the calls. */
export type Send = (message: OutgoingMessage) => void;

export interface ToolSet {
  /** The tools that exist for a caller. */
  list(rights: Rights): readonly Tool[];

  /** The message for a tool that does not exist. It names the tools that do, or the one that was probably meant. */
  unknownTool(name: string, rights: Rights): string;

  /** Another line of instructions. */
  readonly instructions?: string | undefined;

  /** Further lines: at which servers the caller must sign in first. */
  signIns?(by: CallOrigin): Promise<readonly string[]> | undefined;

  /** Whether the list may change while the process runs, and whether the client is then notified. */
  readonly isDynamic?: boolean;
  readonly notifiesOfChanges?: boolean;

  /** Waits, for a limited time, for lists of tools that are not known yet. */
  prepare?(rights: Rights): Promise<unknown> | undefined;

  /** `notify` sends notifications about the call. Settles with `cancelled` soon after `signal` aborts, and rejects only because of a bug. */
  call(call: ClientCall, notify: Send, signal: AbortSignal): Promise<ToolReply>;
}
