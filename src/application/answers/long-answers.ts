import { err, ok } from 'neverthrow';
import { type AnswerHandle, handleIn, toHandle } from '../../domain/answers/answer-handle.ts';
import { languageOf } from '../../domain/answers/language.ts';
import { never, untilAborted, withDeadline } from '../async/deadline.ts';
import type { Clock } from '../ports/clock.ts';
import type { Config, LongAnswersConfig } from '../ports/config.ts';
import type { HandleSigner } from '../ports/handle-signer.ts';
import type { SearchObserver, SearchReply, SearchRequest } from '../ports/llm-search.ts';
import type { StartedResponses } from '../ports/started-responses.ts';
import { KeptAnswers } from './kept-answers.ts';
import { LongCounts } from './long-counts.ts';
import { LongPlaces } from './long-places.ts';
import { errorKind, type LongRun, LongSearch, type LongSearchOptions, type Outcome } from './long-search.ts';
import { toAnswerError, toOutcome, watchResponse } from './watch-response.ts';

export interface LongAnswersOptions {
  readonly responses: StartedResponses;
  readonly signer: HandleSigner;
  readonly clock: Clock;
  readonly config: Pick<Config, 'timeoutMs'> & {
    readonly longAnswers: LongAnswersConfig;
    readonly maxConcurrency?: number | undefined;
  };
}

/** A call of a tool whose questions may take long. */
export interface LongCall {
  readonly request: SearchRequest;
  readonly observer: SearchObserver;
  /** Its client can get a task instead of an answer (ruling K15). */
  readonly takesTask: boolean;
}

/** How long the exit may take. */
const CLOSE_MS = 1000;

/** Searches that do not depend on the calls that began them, and their answers (rulings K5 to K25). */
export class LongAnswers {
  readonly #options: LongAnswersOptions;
  readonly #kept: KeptAnswers;
  readonly #working = new Set<LongSearch>();
  readonly #places: LongPlaces;
  readonly #counts = new LongCounts();

  constructor(options: LongAnswersOptions) {
    this.#options = options;
    this.#kept = new KeptAnswers(options.clock, options.config.longAnswers.keepMs);
    this.#places = new LongPlaces(options.config.maxConcurrency);
  }

  /** The handle that a query is; undefined if it is a question (ruling K21). Without long answers, its patterns are not loaded. */
  readonly handleIn = handleIn;

  /** Answers a question: begins a search, joins the one for the same question, or returns the answer that it had. */
  async ask(call: LongCall, run: LongRun, signal: AbortSignal): Promise<Outcome> {
    const { request, observer } = call;
    const { question, profile } = request;
    const key = JSON.stringify([ownerOf(request), question, profile, request.isUnlimited]);
    const known = this.#kept.currentFor(key);
    if (known !== undefined) {
      return this.#wait(known, call, known.outcome === undefined ? 'joined' : 'kept', signal);
    }
    const { tool, query } = question;
    const search = this.#begin({ tool, language: languageOf(query), run }, observer);
    this.#kept.onAsked(key, search);
    return this.#wait(search, call, undefined, signal);
  }

  /** Fetches the answer that a handle names (rulings K12, K13, K21). `toAnswer` makes it from the reply of the API. */
  async fetch(
    handle: AnswerHandle | 'malformed',
    call: LongCall,
    toAnswer: (reply: SearchReply, signal: AbortSignal) => Promise<Outcome>,
    signal: AbortSignal,
  ): Promise<Outcome> {
    if (!this.isValid(handle, call.request)) return UNKNOWN;
    const { tool, responseId } = handle;
    const known = this.#kept.of(responseId);
    const isUsable = known !== undefined && !(known.isForeign && known.isCancelled);
    if (isUsable) return this.#wait(known, call, known.outcome === undefined ? 'joined' : 'kept', signal);
    const search = this.#begin(
      {
        tool,
        language: 'en',
        foreignId: responseId,
        run: async (observer, untilOver) => {
          const onLook: Parameters<typeof watchResponse>[3] = (look) => {
            if (look.isErr() && look.error.kind === 'not_looked' && look.error.error.kind !== 'aborted')
              search.lookError = look.error.error;
            if (look.isErr() || look.value.state !== 'working') return;
            search.searches = look.value.searches;
            if (search.started === undefined) observer.onCreated({ id: responseId, createdAt: look.value.createdAt });
          };
          const ended = await watchResponse(responseId, call.request, this.#options, onLook, untilOver);
          if (ended.isErr() && ended.error.kind === 'unknown_response') return UNKNOWN;
          if (ended.isOk()) observer.onCreated({ id: responseId, createdAt: ended.value.createdAt });
          const outcome = toOutcome(ended, call.request);
          if (outcome.isOk()) return toAnswer(outcome.value, untilOver);
          return err(toAnswerError(outcome.error));
        },
      },
      call.observer,
    );
    this.#kept.onCreated(responseId, search);
    return this.#wait(search, call, 'recovered', signal);
  }

  /** Whether a handle was made for the caller (ruling K12). */
  isValid(handle: AnswerHandle | 'malformed', request: SearchRequest): handle is AnswerHandle {
    if (handle === 'malformed') return false;
    const { tool, responseId, signature } = handle;
    return this.#options.signer.verify([ownerOf(request), tool, responseId], signature);
  }

  /** The search with this response, if it is known here. */
  searchOf(responseId: string): LongSearch | undefined {
    return this.#kept.of(responseId);
  }

  /** A client has got from its task what there is. An answer counts once, however often a client asks. */
  onTaskReturned(search: LongSearch): void {
    if (search.outcome === undefined) return;
    search.deliveredMs = this.#options.clock.elapsedMs();
    if (search.outcome.isOk() && !search.isReturned) this.#counts.long_answers_returned_total.task += 1;
    search.isReturned = true;
  }

  /** Keeps the end of a search that began elsewhere. It is known at once: what is asked in the same turn finds it. */
  remember({ tool, responseId }: AnswerHandle, createdAt: Date | undefined, outcome: Outcome): LongSearch {
    const run = async () => outcome;
    const search = this.#begin({ tool, language: 'en', foreignId: responseId, run }, { onProgress: () => {} });
    search.outcome = outcome;
    if (createdAt !== undefined) search.started = { id: responseId, createdAt };
    this.#kept.onCreated(responseId, search);
    return search;
  }

  /** The process will exit soon: calls get the handles of their searches. Returns whether there were any (ruling K7). */
  endWaits(): boolean {
    return [...this.#working].filter((search) => search.endWaits()).length > 0;
  }

  /** Ends the searches that no client can find again, and waits a limited time until the API has the cancellations (ruling K8). */
  async close(): Promise<void> {
    for (const search of this.#working) search.close();
    const ended = Promise.all([...this.#working].map((search) => search.whenEnded()));
    await withDeadline(this.#options.clock, CLOSE_MS, never(), (limit) => untilAborted(ended, limit));
  }

  /** By the names of the metrics. */
  get counts() {
    const working = [...this.#working].filter(({ isForeign }) => !isForeign).length;
    return { ...this.#counts, long_answers: { working, kept: this.#kept.count } };
  }

  #begin(
    begun: Pick<LongSearchOptions, 'tool' | 'language' | 'foreignId'> & { readonly run: LongRun },
    first: SearchObserver,
  ): LongSearch {
    const { clock, config } = this.#options;
    const { orphanMs } = config.longAnswers;
    const search: LongSearch = new LongSearch(
      {
        ...begun,
        run: (observer, untilOver) =>
          begun.run(
            observer,
            untilOver,
            (giveBack) => this.#places.onPlace(search, giveBack),
            () => search.isOrdinary,
          ),
        clock,
        orphanMs,
        timeoutMs: config.timeoutMs,
        onCreated: ({ id }) => this.#kept.onCreated(id, search),
        onJoined: () => this.#places.onJoined(search),
        onDetached: (cause) => {
          this.#places.onDetached(search);
          this.#counts.long_answers_detached_total[cause] += 1;
        },
        onOver: (outcome) => {
          if (!search.isForeign) this.#counts.onEnded(outcome);
          this.#working.delete(search);
          this.#places.onEnded(search);
          this.#kept.onOver(search);
        },
      },
      first,
    );
    this.#working.add(search);
    return search;
  }

  async #wait(
    search: LongSearch,
    { request, observer, takesTask }: LongCall,
    state: 'joined' | 'kept' | 'recovered' | undefined,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { config, signer } = this.#options;
    const { maxMs, taskAfterMs } = config.longAnswers;
    const { isUnlimited } = request;
    // A search that began here ends itself at the limit of searches.
    const unlimitedMs = search.isForeign ? maxMs : Number.POSITIVE_INFINITY;
    const callMs = Math.min(config.timeoutMs, takesTask ? taskAfterMs : config.timeoutMs);
    const outcome = await search.wait(observer, isUnlimited ? unlimitedMs : callMs, takesTask, signal);
    const { id: responseId, tool, lookError } = search;
    const signature = responseId && signer.sign([ownerOf(request), tool, responseId]);
    const handle = responseId && signature && toHandle({ tool, responseId, signature });
    const isOver = outcome === 'unfinished' || (outcome.isErr() && outcome.error.kind === 'timed_out');
    if (isUnlimited && search.isForeign && isOver)
      return err({ kind: 'timed_out', timeoutMs: maxMs, limit: 'long_answers.max_ms', ...(handle && { handle }) });
    if (outcome !== 'unfinished') {
      // The call was not: it gets a failure (ruling K7).
      if (errorKind(outcome) === 'cancelled' && !signal.aborted) return err({ kind: 'search_cancelled' });
      if (outcome.isErr() && outcome.error.kind === 'interrupted') return err({ ...outcome.error, handle });
      if (outcome.isErr() && outcome.error.kind === 'timed_out' && lookError !== undefined) return err(lookError);
      if (state === undefined) return outcome;
      const how = state === 'recovered' || this.handleIn(request.question.query) !== undefined ? 'handle' : state;
      const isFound = !search.isOrdinary;
      if (outcome.isOk() && isFound) this.#counts.long_answers_returned_total[how] += 1;
      const more = { isShared: true as const, ...(isFound && { state, ...(handle && { handle }) }) };
      return outcome.map(({ result, report }) => ({ result, report: { ...report, ...more } }));
    }
    // Only a search whose response is known is left unfinished.
    if (handle === undefined) return err({ kind: 'cancelled' });
    return ok(search.unfinished(handle, request.profile.model));
  }
}

const UNKNOWN: Outcome = err({ kind: 'unknown_answer' });

/** Who may use an answer (ruling K5). */
function ownerOf({ isLocal, caller }: SearchRequest): string {
  return isLocal === true ? 'user' : `http:${caller}`;
}
