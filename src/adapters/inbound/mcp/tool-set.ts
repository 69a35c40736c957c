import type { Answer } from '../../../application/answers/answer.ts';
import type { CallObserver } from './call-meter.ts';
import type { Era } from './era.ts';
import type { ErrorObject, OutgoingMessage, Params } from './json-rpc.ts';

/** How long a list waits for servers that are starting (rulings G12 and G23). */
export const LIST_WAIT_MS = 5000;

/** Time for a busy client to read the last progress: the official clients drop progress that they read with the response. */
export const PROGRESS_FLUSH_MS = 25;

/** A tool as in `tools/list`. */
export interface Tool extends Params {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema: Params;
}

/** A `tools/call` request with a valid name and arguments. */
export interface ToolCall {
  readonly name: string;
  readonly args: Params;
  /** The `_meta` of the request, if it is an object. */
  readonly meta: Params;
  readonly era: Era;
  readonly caller: string;
  /** The caller is the user of this machine, and not a caller over HTTP. */
  readonly isLocal?: boolean | undefined;
  readonly observer?: CallObserver | undefined;
}

/** The outcome of a call; a cancelled call gets no response. `unknown_tool`: only the server could say so. */
export type ToolReply = { readonly result: Params } | { readonly error: ErrorObject } | 'cancelled' | 'unknown_tool';

/** Sends a message to the client. Messages arrive in the order of the calls. */
export type Send = (message: OutgoingMessage) => void;

export interface ToolSet {
  list(): readonly Tool[];

  /** The message for a tool that does not exist: which exist, or which was probably meant. */
  unknownTool(name: string): string;

  /** Whether the list may change while the process runs, and whether the client is then notified. */
  readonly isDynamic?: boolean;
  readonly notifiesOfChanges?: boolean;

  /** Waits for what is not known yet about the tools, for a limited time. */
  prepare?(): Promise<void>;

  /**
   * Undefined if there is no such tool. `notify` sends notifications about the call. Settles with `cancelled` soon after `signal` aborts,
   * and rejects only because of a bug.
   */
  call(call: ToolCall, notify: Send, signal: AbortSignal): Promise<ToolReply> | undefined;
}

/** Whose task it is. */
export type TaskClient = Pick<ToolCall, 'caller' | 'isLocal'>;

export type TaskReply = { readonly result: Params } | { readonly error: ErrorObject };

/** An extension of MCP with which a call returns a task, whose result is fetched later. */
export interface TaskExtension {
  /** Members of the server's `capabilities`. */
  readonly capabilities: Params;

  /** The part of a request's `_meta` that declares the extension; undefined if it does not. */
  declaredIn(meta: Params): Params | undefined;

  /** What the header `Mcp-Name` of a request must repeat; undefined for a method of others. */
  nameIn(method: string, params: Params): string | undefined;

  /** The result of a call whose answer is not finished; undefined if it is. */
  toTask(answer: Answer, by: TaskClient): Promise<Params | undefined>;

  /** The reply to a request; undefined for a method that the extension does not have. */
  respond(method: string, params: Params, by: TaskClient): Promise<TaskReply | undefined>;
}
