import type { Result } from 'neverthrow';
import type { SearchError } from '../../domain/answer-error.ts';
import type { ModelProfile } from '../../domain/model-profile.ts';
import type { Question } from '../../domain/question.ts';
import type { Reply } from '../../domain/reply.ts';

export interface SearchRequest {
  /** Who asks; callers with different names share nothing. */
  readonly caller: string;
  readonly question: Question;
  readonly profile: ModelProfile;
  /** The system policy, as configured. */
  readonly instructions: string;
  /** The day in Asia/Tokyo. */
  readonly today: string;
  /** When the caller gives up, on the clock's `elapsedMs` scale: a wait beyond it is not worth beginning. */
  readonly deadlineMs: number;
}

/** A reply, and what it took. */
export interface SearchReply extends Reply {
  readonly report: SearchReport;
}

export interface SearchReport {
  /** Model and response id as the API reported them. */
  readonly model?: string;
  readonly responseId?: string;
  readonly usage?: TokenUsage;
  /** The queries of the searches that ran, in order. */
  readonly queries: readonly string[];
  readonly searches: number;
  readonly attempts: number;
}

export interface TokenUsage {
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
}

/** What happens while a search runs. */
export type SearchProgress =
  | { readonly kind: 'asking' }
  /** Behind so many others. */
  | { readonly kind: 'waiting'; readonly ahead: number }
  | { readonly kind: 'thinking' }
  | { readonly kind: 'searching'; readonly query?: string }
  | { readonly kind: 'opened_page'; readonly url: string }
  /** So many characters until now. */
  | { readonly kind: 'writing'; readonly characters: number }
  | { readonly kind: 'retrying'; readonly reason: string; readonly waitMs: number; readonly attempt: number };

export interface SearchObserver {
  onProgress(progress: SearchProgress): void;
}

/**
 * A language model that may search the web before it replies.
 *
 * The promise never rejects: a failure is a SearchError. When `signal` aborts, the search stops and settles soon after,
 * and leaves no listener on the signal. `observer` hears of progress until then, and not after.
 */
export interface LlmSearch {
  search(
    request: SearchRequest,
    observer: SearchObserver,
    signal: AbortSignal,
  ): Promise<Result<SearchReply, SearchError>>;
}
