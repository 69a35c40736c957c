import { err, ok } from 'neverthrow';
import type { SearchError } from '../../domain/answers/answer-error.ts';
import { type AnswerHandle, toHandle } from '../../domain/answers/answer-handle.ts';
import type { Language } from '../../domain/answers/language.ts';
import type { SearchProgress, SearchReply, SearchRequest } from '../ports/llm-search.ts';
import type { LongAnswers, LongAnswersOptions } from './long-answers.ts';
import { errorKind, LongSearch, type Outcome } from './long-search.ts';
import { toAnswerError, toOutcome } from './watch-response.ts';

/** What a handle names, and since when (ruling K16). `answer` is the same each time. */
export type TaskStatus =
  | { readonly state: 'unknown' }
  | { readonly state: 'not_looked'; readonly error: SearchError }
  | ({ readonly createdAt: Date; readonly updatedAt: Date } & (
      | { readonly state: 'working'; readonly latest: SearchProgress | undefined; readonly language: Language }
      | { readonly state: 'cancelled' }
      | { readonly state: 'ended'; readonly answer: Outcome }
    ));

/** The searches that handles name, for protocols that ask what becomes of them instead of waiting (rulings K16 to K18). */
export class LongTasks {
  readonly #answers: LongAnswers;
  readonly #options: Pick<LongAnswersOptions, 'responses' | 'clock'>;

  constructor(answers: LongAnswers, options: Pick<LongAnswersOptions, 'responses' | 'clock'>) {
    this.#answers = answers;
    this.#options = options;
  }

  /** What becomes of the search that a handle names. One that began elsewhere is looked at, once. `isReturned`: a client gets an answer. */
  async status(
    handle: AnswerHandle,
    request: SearchRequest,
    toAnswer: (reply: SearchReply, signal: AbortSignal) => Promise<Outcome>,
    isReturned: boolean,
    signal: AbortSignal,
  ): Promise<TaskStatus> {
    if (!this.#answers.isValid(handle, request)) return { state: 'unknown' };
    const known = this.#answers.searchOf(handle.responseId);
    const isKnown = known?.isForeign === false || (known?.outcome !== undefined && known.started !== undefined);
    const found = isKnown ? known : await this.#look(handle, request, toAnswer, signal);
    if (!(found instanceof LongSearch)) return found;
    if (isReturned) this.#answers.onTaskReturned(found);
    return statusOf(found);
  }

  /** Ends a search at the API, also one that began elsewhere (ruling K18). False if there is none with this handle. */
  async cancel(handle: AnswerHandle, request: SearchRequest): Promise<boolean> {
    if (!this.#answers.isValid(handle, request)) return false;
    const known = this.#answers.searchOf(handle.responseId);
    if (known?.outcome !== undefined) return true;
    if (known?.isForeign !== false) {
      // The answer does not wait for the API.
      this.#answers.remember(handle, known?.started?.createdAt, err({ kind: 'search_cancelled' }));
      void this.#options.responses.cancel(handle.responseId);
    }
    known?.cancel();
    return true;
  }

  async #look(
    handle: AnswerHandle,
    request: SearchRequest,
    toAnswer: (reply: SearchReply, signal: AbortSignal) => Promise<Outcome>,
    signal: AbortSignal,
  ): Promise<TaskStatus | LongSearch> {
    const looked = await this.#options.responses.look(handle.responseId, request, signal);
    const ended = this.#endOf(handle.responseId, looked.isOk() ? looked.value.createdAt : undefined);
    if (ended !== undefined) return ended;
    if (looked.isErr()) {
      const { error } = looked;
      return error.kind === 'unknown_response' ? { state: 'unknown' } : { state: 'not_looked', error: error.error };
    }
    const { createdAt, state } = looked.value;
    const updatedAt = this.#options.clock.now();
    if (state === 'working') return { state, createdAt, updatedAt, latest: undefined, language: 'en' };
    if (state === 'cancelled') return { state, createdAt, updatedAt };
    const outcome = toOutcome(ok(looked.value));
    const answer = outcome.isOk() ? await toAnswer(outcome.value, signal) : err(toAnswerError(outcome.error));
    const more = { state: 'recovered' as const, isShared: true as const, handle: toHandle(handle) };
    const recovered = answer.map(({ result, report }) => ({ result, report: { ...report, ...more } }));
    return this.#endOf(handle.responseId, createdAt) ?? this.#answers.remember(handle, createdAt, recovered);
  }

  /** A search that another look has shown to be over, or `tasks/cancel` has ended, which does not know when it began. */
  #endOf(id: string, createdAt: Date | undefined): LongSearch | undefined {
    const known = this.#answers.searchOf(id);
    if (known?.outcome === undefined) return undefined;
    if (createdAt !== undefined) known.started ??= { id, createdAt };
    return known;
  }
}

function statusOf(search: LongSearch): TaskStatus {
  const { started, updatedAt, outcome, latest, language } = search;
  const createdAt = started?.createdAt ?? updatedAt;
  if (search.isCancelled || errorKind(outcome) === 'search_cancelled')
    return { state: 'cancelled', createdAt, updatedAt };
  if (outcome === undefined) return { state: 'working', createdAt, updatedAt, latest, language };
  return { state: 'ended', createdAt, updatedAt, answer: outcome };
}
