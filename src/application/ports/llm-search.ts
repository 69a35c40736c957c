import type { Result } from 'neverthrow';
import type { SearchError } from '../../domain/answers/answer-error.ts';
import type { ModelProfile } from '../../domain/answers/model-profile.ts';
import type { Question } from '../../domain/answers/question.ts';
import type { Reply } from '../../domain/answers/reply.ts';
import type { CallOrigin } from '../../domain/gateway/call-origin.ts';
import type { OfferedFunction } from '../../domain/grounded/grounding.ts';
import type { ToolOutput } from '../../domain/grounded/tool-output.ts';
import type { Kind } from '../../domain/values/kind.ts';

/** A question with its model, mode and caller. */
export interface SearchRequest {
  readonly question: Question;
  readonly profile: ModelProfile;
  readonly instructions: string;
  /** Today in the time zone, `YYYY-MM-DD`. */
  readonly today: string;
  readonly timeZone: string;
  readonly mode: SearchMode;
  readonly by: CallOrigin;
  /** When the caller gives up, on the scale of `elapsedMs`. */
  readonly deadlineMs: number;
}

/**
 * How a question is asked: with the web in one response; in one response that continues at the API if the connection ends (`background`); or in
 * a conversation.
 */
type SearchMode = 'web' | 'background' | Conversation;

/** A conversation in rounds, in which the model can ask for calls of functions, and gets their outputs. */
export interface Conversation {
  readonly functions: readonly OfferedFunction[];
  /** False: the model must answer now. */
  readonly mayCall: boolean;
  readonly web: WebAccess;
  readonly rounds: readonly Round[];
}

/** How the web may be used in a request: live search, a declared search tool without live access, or not at all. */
export type WebAccess = 'open' | 'closed' | 'absent';

/** One response of the model, and the outputs that are sent back. */
export interface Round {
  readonly items: SearchReply['items'];
  /** One output per call ID of the response, in the order of the calls. */
  readonly outputs: readonly { readonly callId: string; readonly output: ToolOutput }[];
}

export interface FunctionCall {
  readonly callId: string;
  /** The name as the model wrote it. It may be no known function. */
  readonly name: string;
  /** A JSON text, which may be malformed. */
  readonly arguments: string;
  /** True if the call was cut off: it must not run. */
  readonly isIncomplete: boolean;
}

/** A reply, and the report of its production. */
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
  /** Whether another call accounts for this shared search. */
  readonly isShared?: true;
  /** Whether the call got a response that another call started, or has no answer yet, with the handle of the answer. */
  readonly state?: 'recovered' | 'unfinished';
  readonly handle?: string;
  /** For a grounded answer: the number of answered requests, and the calls of own tools. */
  readonly rounds?: number;
  readonly toolCalls?: readonly ToolCallSummary[];
  /** Servers that could not be used, and those of them that require a login. */
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

/** Tokens as the API counts them: cached tokens are part of the input, reasoning tokens are part of the output. */
export interface TokenUsage {
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly cacheWriteTokens?: number;
}

/** An event of a search. It does not change later. */
export type SearchProgress =
  /** `round` is the number of the request in a grounded answer, from the second on. */
  | Kind<'asking', { round?: number }>
  /** Waits in the queue. `ahead` is the number of calls before this one. */
  | Kind<'waiting', { ahead: number }>
  | Kind<'thinking'>
  /** The response comes at once, because the API refuses to stream it. */
  | Kind<'unstreamed'>
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

/** The use of a part of a search: a response of the API, a round, or a call of an own tool. */
export interface SearchUse extends Partial<Pick<SearchReport, 'usage' | 'searches' | 'rounds' | 'toolCalls'>> {
  /** Its cost in micro-dollars, if it is known. */
  readonly microUsd?: number;
  /** A tool that may have effects, when its call is sent. */
  readonly effect?: string;
}

/** Must not throw. */
export interface SearchObserver {
  onProgress(progress: SearchProgress): void;
  /** Gets the use of each part as soon as it is known, even if the search fails later. Callers that share a search get each part once. */
  onUsed?(use: SearchUse): void;
  /**
   * In background mode: gets the ID of the response as soon as it is known; undefined if the search ends with its connection, because the API
   * rejects background mode, or sends no usable ID.
   */
  onStarted?(id: string | undefined): void;
}

export type SearchOutcome = Result<SearchReply, SearchError>;

/**
 * A language model that may search the web before it replies. The promise never rejects: a failure is a SearchError. When `signal` aborts, the
 * search stops and settles soon after, and leaves no listener on the signal. Until then, `observer` gets progress, and the use of each response of the
 * API, including failed ones and those that are tried again. An abort also ends the response at the API, except in the mode `background`, where a
 * stream that breaks after `onStarted` is the failure `interrupted`.
 */
export interface LlmSearch {
  search(request: SearchRequest, observer: SearchObserver, signal: AbortSignal): Promise<SearchOutcome>;
}

/** The result of a look at a response: the number of searches so far, and the outcome if the response has ended. */
export interface Look {
  readonly searches: number;
  readonly outcome?: SearchOutcome;
}

/** Why a look failed. `unknown_response`: the API does not have the response any more (404). `isPassing`: a later look may succeed. */
export type LookError = Kind<'unknown_response'> | Kind<'not_looked', { error: SearchError; isPassing: boolean }>;

/** Responses that continue at the API, whichever process started them. No promise rejects. `asked` says how a reply is read. */
export interface StartedResponses {
  /** One request. Ends with `not_looked` (`aborted`) soon after `signal` aborts, and leaves no listener on it. */
  look(
    id: string,
    asked: Pick<SearchRequest, 'profile' | 'timeZone'>,
    signal: AbortSignal,
  ): Promise<Result<Look, LookError>>;

  /** Cancels the response with one request. Resolves when it was sent, or after a limited time. */
  cancel(id: string): Promise<void>;
}

export type FoundModel = 'found' | 'unknown' | { readonly shutsDownOn: string };

/** Checks whether the API can be used, without asking a question. The promises never reject. */
export interface ApiProbe {
  /** The API's host, and the proxy on the way to it: `api.openai.com via the proxy 10.0.0.1:8080`. */
  readonly route: string;

  /** Connects to the base URL: name, connection, TLS, proxy. Resolves with the HTTP status, whatever it is. */
  reach(signal: AbortSignal): Promise<Result<number, SearchError>>;

  /** Whether the key may use a model, and until when (`YYYY-MM-DD`); `unknown` if the server does not list models. */
  findModel(model: string, signal: AbortSignal): Promise<Result<FoundModel, SearchError>>;
}
