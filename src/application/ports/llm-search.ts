import type { Result } from 'neverthrow';
import type { SearchError } from '../../domain/answers/answer-error.ts';
import type { ModelProfile } from '../../domain/answers/model-profile.ts';
import type { Question } from '../../domain/answers/question.ts';
import type { Reply } from '../../domain/answers/reply.ts';
import type { CallOrigin } from '../../domain/gateway/call-origin.ts';
import type { OfferedFunction } from '../../domain/grounded/grounding.ts';
import type { ToolOutput } from '../../domain/grounded/tool-output.ts';
import type { Kind } from '../../domain/values/kind.ts';

/** A question, and how to ask it. */
export interface SearchRequest {
  readonly by: CallOrigin;
  /** No own tool may be offered, whatever is configured. */
  readonly isWebOnly?: boolean | undefined;
  /** The API continues the search if the connection ends, so that it can be looked at later (ruling K4). */
  readonly isLong?: boolean | undefined;
  /**
   * Called when a long search has a place of those that may run at the same time. `giveBack` gives it back before the search ends. If it
   * returns a turn, nothing is sent: the place is given back, and another is taken when the turn comes.
   */
  readonly onPlace?: ((giveBack: () => void) => LongTurn | undefined) | undefined;
  /** A person waits, for as long as the search may take, and can ask again (rulings K3 and K24). */
  readonly isUnlimited?: boolean | undefined;
  readonly question: Question;
  readonly profile: ModelProfile;
  readonly instructions: string;
  /** Today in the time zone, `YYYY-MM-DD`. */
  readonly today: string;
  readonly timeZone: string;
  /** When the caller gives up, on the scale of `elapsedMs`. It is later when another caller has joined the search. */
  deadlineMs(): number;
  /** Absent in a question that the model answers at once, without functions. */
  readonly conversation?: Conversation;
}

/** What a long search waits for that must not start yet; `ahead` is the number of those before it (ruling K6). */
export interface LongTurn {
  readonly ahead: number;
  readonly comes: Promise<void>;
}

/** A conversation in rounds: the model may ask for calls of functions, and then gets their outputs. */
export interface Conversation {
  readonly functions: readonly OfferedFunction[];
  /** False: the model must answer now. */
  readonly mayCall: boolean;
  readonly web: WebAccess;
  readonly rounds: readonly Round[];
}

/** How the web may be used in a request: search, no live access although it is declared, or not at all. */
export type WebAccess = 'open' | 'closed' | 'absent';

/** One response of the model, and what is sent back for it. */
export interface Round {
  readonly items: SearchReply['items'];
  /** One output per call ID of the response, in the order of the calls. */
  readonly outputs: readonly { readonly callId: string; readonly output: ToolOutput }[];
}

export interface FunctionCall {
  readonly callId: string;
  /** As the model wrote it, which may be no known function. */
  readonly name: string;
  /** A JSON text, which may be malformed. */
  readonly arguments: string;
  /** True if the call was cut off: it must not run. */
  readonly isIncomplete: boolean;
}

/** A reply, and what it took to produce it. */
export interface SearchReply extends Reply {
  /** The items of the response, which the next request of the conversation repeats; for the adapter only. */
  readonly items: readonly unknown[];
  /** The calls to run; none if the response is not complete. */
  readonly calls: readonly FunctionCall[];
  readonly report: SearchReport;
}

export interface SearchReport {
  /** Model and response ID as the API reported them. */
  readonly model?: string;
  readonly responseId?: string;
  readonly serviceTier?: string;
  readonly usage?: TokenUsage;
  readonly queries: readonly string[];
  readonly searches: number;
  /** The number of requests to the API. */
  readonly attempts: number;
  /** True if another call accounts for this search, which it shared. */
  readonly isShared?: true;
  /** How the call got a search that continues by itself, or that it has no answer yet, and the handle of the answer (ruling K22). */
  readonly state?: 'joined' | 'kept' | 'recovered' | 'unfinished';
  readonly handle?: string;
  /** Of a grounded answer: the number of requests that were answered, and the calls of own tools. */
  readonly rounds?: number;
  readonly toolCalls?: readonly ToolCallSummary[];
  /** Servers whose tools could not be offered, or no longer be used, and which of them require a login (ruling O5). */
  readonly unavailableServers?: readonly string[];
  readonly loginRequired?: readonly string[];
}

/** A call of an own tool, without its arguments and its result. */
export interface ToolCallSummary {
  readonly server: string;
  readonly tool: string;
  readonly ms: number;
  readonly ok: boolean;
}

/** Tokens as the API counts them: cached tokens are part of the input, reasoning tokens of the output. */
export interface TokenUsage {
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly cacheWriteTokens?: number;
}

/** What happens during a search. */
export type SearchProgress =
  /** `round` is the number of the request in a grounded answer, from the second on. */
  | Kind<'asking', { round?: number }>
  /** In the queue; `ahead` is the number of calls before this one. */
  | Kind<'waiting', { ahead: number }>
  | Kind<'thinking'>
  /** Without a query: a search has started. With it: a search has finished. */
  | Kind<'searching', { query?: string }>
  | Kind<'opened_page', { url: string }>
  | Kind<'calling', { server: string; tool: string }>
  /** `reason`: why the call of the own tool failed. */
  | Kind<'called', { server: string; tool: string; ms: number; characters: number; reason: string | undefined }>
  /** The number of characters so far. */
  | Kind<'writing', { characters: number }>
  /** `attempt`: the number of the next one. */
  | Kind<'retrying', { reason: SearchError['kind']; waitMs: number; attempt: number }>;

/** What a part of a search used: a response of the API, a round, or a call of an own tool. */
export type SearchUse = Partial<Pick<SearchReport, 'usage' | 'searches' | 'rounds' | 'toolCalls'>>;

/** Must not throw. */
export interface SearchObserver {
  onProgress(progress: SearchProgress): void;
  /** Gets each part as soon as it is known, whatever becomes of the search. Callers that share a search get each part once. */
  onUsed?(use: SearchUse): void;
  /** The API has begun a response that continues by itself. Called at most once in a search that is long. */
  onCreated?(response: StartedResponse): void;
  /** A long search ends with its calls: the API rejects background mode, or the response has no usable ID or no numbers (ruling K4). */
  onOrdinary?(reason: 'rejected' | 'unusable'): void;
}

/** A response of the API that continues by itself. */
export interface StartedResponse {
  readonly id: string;
  readonly createdAt: Date;
}

export type SearchOutcome = Result<SearchReply, SearchError>;

/**
 * A language model that may search the web before it replies. The promise never rejects: a failure is a SearchError. When `signal` aborts, the
 * search stops and settles soon after, and leaves no listener on the signal. `observer` gets progress until then, and what each response of the
 * API used, also of one that failed or that another attempt follows. An abort also ends the response at the API, but if its reason is
 * `DETACHED`, a long search continues there.
 */
export interface LlmSearch {
  search(request: SearchRequest, observer: SearchObserver, signal: AbortSignal): Promise<SearchOutcome>;
}
