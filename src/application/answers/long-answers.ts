import { err, ok } from 'neverthrow';
import { type AnswerHandle, handleIn, toHandle } from '../../domain/answers/answer-handle.ts';
import { languageOf } from '../../domain/answers/language.ts';
import { never, untilAborted, withDeadline } from '../async/deadline.ts';
import type { Clock } from '../ports/clock.ts';
import type { Config, LongAnswersConfig } from '../ports/config.ts';
import type { HandleSigner } from '../ports/handle-signer.ts';
import type { SearchObserver, SearchReply, SearchReport, SearchRequest } from '../ports/llm-search.ts';
import type { StartedResponses } from '../ports/started-responses.ts';
import { isCancelled, LongSearch, type Outcome } from './long-search.ts';
import { toAnswerError, toOutcome, watchResponse } from './watch-response.ts';

export interface LongAnswersOptions {
  readonly responses: StartedResponses;
  readonly signer: HandleSigner;
  readonly clock: Clock;
  readonly config: Pick<Config, 'timeoutMs'> & { readonly longAnswers: LongAnswersConfig };
}

/** A call of a tool whose questions may take long. */
export interface LongCall {
  readonly request: SearchRequest;
  readonly observer: SearchObserver;
  /** A person waits for it: as long as the search may take (ruling K3). */
  readonly isUnlimited: boolean;
  /** Its client can get a task instead of an answer (ruling K15). */
  readonly takesTask: boolean;
}

/** How long the exit may take. */
const CLOSE_MS = 1000;
/** How long after a delivery the same question gets the same answer: the client may have given up before it was read (ruling K20). */
const REPEATED_MS = 600_000;
/** What a process keeps of answers (ruling K25). */
const MAX_KEPT = 100;
const MAX_KEPT_BYTES = 16 * 1024 * 1024;

/** Searches that do not depend on the calls that began them, and their answers (rulings K5 to K25). */
export class LongAnswers {
  readonly #options: LongAnswersOptions;
  /** By owner, question and profile. */
  readonly #byQuestion = new Map<string, LongSearch>();
  /** By the ID of the response. Those that have ended are in the order of their ends. */
  readonly #byId = new Map<string, LongSearch>();
  readonly #working = new Set<LongSearch>();

  constructor(options: LongAnswersOptions) {
    this.#options = options;
  }

  /** The handle that a query is; undefined if it is a question (ruling K21). */
  readonly handleIn = handleIn;

  /** Answers a question: begins a search, joins the one for the same question, or returns the answer that it had. */
  async ask(
    call: LongCall,
    answer: (observer: SearchObserver, signal: AbortSignal, maxMs: number) => Promise<Outcome>,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { request, observer } = call;
    const { question, profile } = request;
    const owner = ownerOf(request);
    const key = JSON.stringify([owner, question, profile, call.isUnlimited]);
    const known = this.#byQuestion.get(key);
    if (known !== undefined && this.#isCurrent(known)) {
      return this.#wait(known, call, known.outcome === undefined ? 'joined' : 'kept', signal);
    }
    const { longAnswers } = this.#options.config;
    const search = this.#begin(
      {
        tool: question.tool,
        language: languageOf(question.query),
        isForeign: false,
        run: (observer, untilOver) => answer(observer, untilOver, longAnswers.maxMs),
      },
      observer,
    );
    this.#byQuestion.set(key, search);
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
    const { tool, responseId, signature } = handle;
    this.#dropOld();
    const known = this.#byId.get(responseId);
    const text = toHandle(tool, responseId, signature);
    const isUsable = known !== undefined && !(known.isForeign && known.isCancelled);
    if (isUsable) return this.#wait(known, call, known.outcome === undefined ? 'joined' : 'kept', signal, text);
    const search = this.#begin(
      {
        tool,
        language: 'en',
        isForeign: true,
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
    this.#byId.set(responseId, search);
    return this.#wait(search, call, 'recovered', signal, text);
  }

  /** Whether a handle was made for the caller (ruling K12). */
  isValid(handle: AnswerHandle | 'malformed' | undefined, request: SearchRequest): handle is AnswerHandle {
    if (handle === undefined || handle === 'malformed') return false;
    const { tool, responseId, signature } = handle;
    return this.#options.signer.verify([ownerOf(request), tool, responseId], signature);
  }

  /** The search with this response, if it is known here. */
  searchOf(responseId: string): LongSearch | undefined {
    this.#dropOld();
    return this.#byId.get(responseId);
  }

  /** Keeps the end of a search that began elsewhere. */
  async remember({ tool, responseId }: AnswerHandle, createdAt: Date, outcome: Outcome): Promise<LongSearch> {
    const run = async (observer: Required<SearchObserver>) => {
      observer.onCreated({ id: responseId, createdAt });
      return outcome;
    };
    const search = this.#begin({ tool, language: 'en', isForeign: true, run }, { onProgress: () => {} });
    await search.whenEnded();
    return search;
  }

  /** Ends the searches that no client can find again, and waits a limited time until the API was told (ruling K8). */
  async close(): Promise<void> {
    for (const search of this.#working) search.close();
    const ended = Promise.all([...this.#working].map((search) => search.whenEnded()));
    await withDeadline(this.#options.clock, CLOSE_MS, never(), (limit) => untilAborted(ended, limit));
  }

  #begin(
    begun: Pick<ConstructorParameters<typeof LongSearch>[0], 'tool' | 'language' | 'isForeign' | 'run'>,
    first: SearchObserver,
  ): LongSearch {
    const { clock, config } = this.#options;
    const { orphanMs } = config.longAnswers;
    const search: LongSearch = new LongSearch(
      {
        ...begun,
        clock,
        orphanMs,
        timeoutMs: config.timeoutMs,
        onCreated: ({ id }) => this.#byId.set(id, search),
        onOver: () => {
          this.#working.delete(search);
          this.#keep(search);
        },
      },
      first,
    );
    this.#working.add(search);
    return search;
  }

  async #wait(
    search: LongSearch,
    { request, observer, isUnlimited, takesTask }: LongCall,
    state: SearchReport['state'],
    signal: AbortSignal,
    known?: string,
  ): Promise<Outcome> {
    const { config, signer } = this.#options;
    const { maxMs, taskAfterMs } = config.longAnswers;
    // A search that began here ends itself at the limit of searches.
    const unlimitedMs = search.isForeign ? maxMs : Number.POSITIVE_INFINITY;
    const callMs = Math.min(config.timeoutMs, takesTask ? taskAfterMs : config.timeoutMs);
    const outcome = await search.wait(observer, isUnlimited ? unlimitedMs : callMs, takesTask, signal);
    const { started, tool, lookError } = search;
    const handle = known ?? (started && toHandle(tool, started.id, signer.sign([ownerOf(request), tool, started.id])));
    const isOver = outcome === 'unfinished' || (outcome.isErr() && outcome.error.kind === 'timed_out');
    if (isUnlimited && search.isForeign && isOver)
      return err({ kind: 'timed_out', timeoutMs: maxMs, limit: 'long_answers.max_ms', ...(handle && { handle }) });
    if (outcome !== 'unfinished') {
      if (outcome.isErr() && outcome.error.kind === 'interrupted') return err({ ...outcome.error, handle });
      if (outcome.isErr() && outcome.error.kind === 'timed_out' && lookError !== undefined) return err(lookError);
      if (state === undefined) return outcome;
      const more = { state, isShared: true as const, ...(handle && { handle }) };
      return outcome.map(({ result, report }) => ({ result, report: { ...report, ...more } }));
    }
    // Only a search whose response is known is left unfinished.
    if (handle === undefined) return err({ kind: 'cancelled' });
    return ok(search.unfinished(handle, request.profile.model));
  }

  /** Whether the same question gets this search (ruling K20). */
  #isCurrent(search: LongSearch): boolean {
    this.#dropOld();
    const { outcome, started, deliveredMs, isCancelled } = search;
    if (outcome === undefined) return !isCancelled;
    if (outcome.isErr() || started === undefined || !this.#byId.has(started.id)) return false;
    const { clock } = this.#options;
    return deliveredMs === undefined || clock.elapsedMs() - deliveredMs < REPEATED_MS;
  }

  /** Moves a search that has ended behind the others. Looks that failed are not kept: the next call looks again. */
  #keep(search: LongSearch): void {
    const { started, isForeign, outcome } = search;
    for (const [id, other] of this.#byId) if (other === search) this.#byId.delete(id);
    if (started !== undefined && (!isForeign || outcome?.isOk() || isCancelled(outcome)))
      this.#byId.set(started.id, search);
    this.#dropOld();
  }

  #dropOld(): void {
    const { clock, config } = this.#options;
    const sinceMs = clock.elapsedMs() - config.longAnswers.keepMs;
    const kept = [...this.#byId].filter(([, { outcome }]) => outcome !== undefined).reverse();
    let bytes = 0;
    for (const [index, [id, search]] of kept.entries()) {
      const { endedMs = 0 } = search;
      bytes += search.bytes;
      if (index >= MAX_KEPT || bytes > MAX_KEPT_BYTES || endedMs <= sinceMs) this.#byId.delete(id);
    }
    for (const [key, { started, outcome }] of this.#byQuestion)
      if (outcome !== undefined && (started === undefined || !this.#byId.has(started.id))) this.#byQuestion.delete(key);
  }
}

const UNKNOWN: Outcome = err({ kind: 'unknown_answer' });

/** Who may use an answer (ruling K5). */
function ownerOf({ isLocal, caller }: SearchRequest): string {
  return isLocal === true ? 'user' : `http:${caller}`;
}
