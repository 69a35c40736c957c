import type { Result } from 'neverthrow';
import type { SearchError } from '../../domain/answer-error.ts';
import type { OfferedFunction } from '../../domain/grounding.ts';
import type { ToolOutput } from '../../domain/tool-output.ts';
import type { SearchObserver, SearchReply, SearchRequest } from './llm-search.ts';

/** A call that the model asked for. */
export interface FunctionCall {
  /** Matches the call with its output. */
  readonly callId: string;
  /** As the model wrote it, which may be no known function. */
  readonly name: string;
  /** A JSON text, which may be malformed. */
  readonly arguments: string;
  /** True if the call was cut off: it must not run. */
  readonly isIncomplete: boolean;
}

/** One response of the model, and what is sent back for it. */
export interface Round {
  /** The items of the response, for the adapter only. */
  readonly items: readonly unknown[];
  /** One output per call ID of the response, in the order of the calls. */
  readonly outputs: readonly { readonly callId: string; readonly output: ToolOutput }[];
}

/** How the web may be used in a request: search, no live access although it is declared, or not at all. */
export type WebAccess = 'open' | 'closed' | 'absent';

/** A request of a conversation. */
export interface TurnRequest extends SearchRequest {
  readonly functions: readonly OfferedFunction[];
  /** False: the model must answer now. */
  readonly mayCall: boolean;
  readonly web: WebAccess;
  /** The rounds so far, which are sent again. */
  readonly rounds: readonly Round[];
  /** The number of this request in the conversation, from 0. */
  readonly round: number;
}

/** A response of the model. */
export interface Turn {
  readonly items: readonly unknown[];
  /** The calls to run; none if the response is not complete. */
  readonly calls: readonly FunctionCall[];
  readonly reply: SearchReply;
}

/** A language model that answers in rounds: it may ask for calls of functions, and then gets their outputs. Promises what LlmSearch does. */
export interface LlmTurns {
  turn(request: TurnRequest, observer: SearchObserver, signal: AbortSignal): Promise<Result<Turn, SearchError>>;
}
