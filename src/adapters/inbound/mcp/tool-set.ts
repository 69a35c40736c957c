import type { CallObserver } from './call-meter.ts';
import type { Era } from './era.ts';
import type { ErrorObject, OutgoingMessage, Params } from './json-rpc.ts';

/** A tool as in `tools/list`. */
export interface Tool extends Params {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Params;
}

/** A `tools/call` request with a valid name and arguments. */
export interface ToolCall {
  readonly name: string;
  readonly args: Params;
  /** The `_meta` of the request, if it is an object. */
  readonly meta: Params;
  readonly era: Era;
  /** The key by which CancelRequest finds the call. */
  readonly requestKey: string;
  readonly caller: string;
  readonly observer?: CallObserver;
}

/** The outcome of a call; a cancelled call gets no response. */
export type ToolReply = { readonly result: Params } | { readonly error: ErrorObject } | 'cancelled';

/** Sends a message to the client. Messages arrive in the order of the calls. */
export type Send = (message: OutgoingMessage) => void;

/** Tools that a session offers. */
export interface ToolSet {
  list(): readonly Tool[];

  /**
   * Starts a call before it returns, so that CancelRequest finds it from then on; undefined if there is no such tool.
   * `notify` sends notifications about the call. The promise rejects only because of a bug.
   */
  call(call: ToolCall, notify: Send): Promise<ToolReply> | undefined;
}
