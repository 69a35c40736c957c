import { err, ok } from 'neverthrow';
import { type AnswerHandle, handleIn, toHandle } from '../../domain/answers/answer-handle.ts';
import { languageOf } from '../../domain/answers/language.ts';
import { unfinishedAnswer } from '../../domain/answers/unfinished-answer.ts';
import type { Clock } from '../ports/clock.ts';
import type { Config, LongAnswersConfig } from '../ports/config.ts';
import type { HandleSigner } from '../ports/handle-signer.ts';
import type { SearchObserver, SearchReply, SearchRequest } from '../ports/llm-search.ts';
import type { StartedResponses } from '../ports/started-responses.ts';
import { LongCounts } from './long-counts.ts';
import { LongPlaces } from './long-places.ts';
import { type LongRun, LongSearch, type LongSearchOptions, type Outcome } from './long-search.ts';
import { toOutcome, watchResponse } from './watch-response.ts';

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
  /** A person waits for it: as long as the search may take (ruling K3). */
  readonly isUnlimited: boolean;
}

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
  readonly #places: LongPlaces;
  readonly #counts = new LongCounts();

  constructor(options: LongAnswersOptions) {
    this.#options = options;
    this.#places = new LongPlaces(options.config.maxConcurrency);
  }

  /** The handle that a query is; undefined if it is a question (ruling K21). */
  handleIn(query: string): ReturnType<typeof handleIn> {
    return handleIn(query);
  }

  /** Answers a question: begins a search, joins the one for the same question, or returns the answer that it had. */
  async ask(call: LongCall, run: LongRun, signal: AbortSignal): Promise<Outcome> {
    const { request, observer } = call;
    const { question, profile } = request;
    const owner = ownerOf(request);
    const key = JSON.stringify([owner, question, profile, call.isUnlimited]);
    const known = this.#byQuestion.get(key);
    if (known !== undefined && this.#isCurrent(known)) {
      return this.#wait(known, call, known.outcome === undefined ? 'joined' : 'kept', signal);
    }
    const { tool, query } = question;
    const search = this.#begin({ tool, language: languageOf(query), isForeign: false, run }, observer);
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
    if (handle === 'malformed') return UNKNOWN;
    const { tool, responseId, signature } = handle;
    if (!this.#options.signer.verify([ownerOf(call.request), tool, responseId], signature)) return UNKNOWN;
    this.#dropOld();
    const known = this.#byId.get(responseId);
    const isUsable = known !== undefined && !(known.isForeign && known.isCancelled);
    if (isUsable) return this.#wait(known, call, known.outcome === undefined ? 'joined' : 'kept', signal);
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
          const outcome = toOutcome(ended);
          if (outcome.isOk()) return toAnswer(outcome.value, untilOver);
          return err(outcome.error.kind === 'aborted' ? { kind: 'cancelled' } : outcome.error);
        },
      },
      call.observer,
    );
    this.#byId.set(responseId, search);
    return this.#wait(search, call, 'recovered', signal);
  }

  /** The process will exit soon: calls get the handles of their searches. Returns whether there were any (ruling K7). */
  endWaits(): boolean {
    return [...this.#working].filter((search) => search.endWaits()).length > 0;
  }

  /** Ends the searches that no client can find again (ruling K8). */
  close(): void {
    for (const search of this.#working) search.close();
  }

  /** By the names of the metrics. */
  get counts() {
    this.#dropOld();
    const working = [...this.#working].filter(({ isForeign }) => !isForeign).length;
    const kept = [...this.#byId.values()].filter(({ outcome }) => outcome !== undefined).length;
    return { ...this.#counts, long_answers: { working, kept } };
  }

  #begin(
    begun: Pick<LongSearchOptions, 'tool' | 'language' | 'isForeign'> & { readonly run: LongRun },
    first: SearchObserver,
  ): LongSearch {
    const { clock, config } = this.#options;
    const { orphanMs } = config.longAnswers;
    const search: LongSearch = new LongSearch(
      {
        ...begun,
        run: (observer, untilOver) =>
          begun.run(observer, untilOver, (giveBack) => this.#places.onPlace(search, giveBack)),
        clock,
        orphanMs,
        timeoutMs: config.timeoutMs,
        onCreated: ({ id }) => this.#byId.set(id, search),
        onJoined: () => this.#places.onJoined(search),
        onDetached: (cause) => {
          this.#places.onDetached(search);
          this.#counts.long_answers_detached_total[cause] += 1;
        },
        onOver: (outcome) => {
          if (!search.isForeign) this.#counts.onEnded(outcome);
          this.#working.delete(search);
          this.#places.onEnded(search);
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
    { request, observer, isUnlimited }: LongCall,
    state: 'joined' | 'kept' | 'recovered' | undefined,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { config, signer, clock } = this.#options;
    const maxMs = isUnlimited ? config.longAnswers.maxMs : config.timeoutMs;
    const outcome = await search.wait(observer, maxMs, signal);
    const { started, tool } = search;
    const handle = started && toHandle(tool, started.id, signer.sign([ownerOf(request), tool, started.id]));
    if (outcome !== 'unfinished') {
      const { lookError } = search;
      if (outcome.isErr() && outcome.error.kind === 'timed_out' && lookError !== undefined) return err(lookError);
      if (state === undefined) return outcome;
      const how = state === 'recovered' || this.handleIn(request.question.query) !== undefined ? 'handle' : state;
      if (outcome.isOk()) this.#counts.long_answers_returned_total[how] += 1;
      const more = { state, isShared: true as const, ...(handle && { handle }) };
      return outcome.map(({ result, report }) => ({ result, report: { ...report, ...more } }));
    }
    // Only a search whose response is known is left unfinished.
    if (started === undefined || handle === undefined) return err({ kind: 'cancelled' });
    const seconds = Math.max(0, clock.now().getTime() - started.createdAt.getTime()) / 1000;
    const { searches } = search;
    const text = unfinishedAnswer({ language: search.language, handle, seconds, searches });
    const result = { answer: text, used_search: false, citations: [], model: request.profile.model };
    return ok({ result, report: { queries: [], searches, attempts: 1, seconds, state: 'unfinished', handle } });
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
    if (started !== undefined && (!isForeign || outcome?.isOk())) this.#byId.set(started.id, search);
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
