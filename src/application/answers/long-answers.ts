import { err, ok, type Result } from 'neverthrow';
import type { AnswerError, SearchError } from '../../domain/answers/answer-error.ts';
import { type AnswerHandle, handleIn, toHandle } from '../../domain/answers/answer-handle.ts';
import { type Language, languageOf } from '../../domain/answers/language.ts';
import { unfinishedAnswer } from '../../domain/answers/unfinished-answer.ts';
import { BUILT_IN_SERVER, type CallOrigin, isLocal } from '../../domain/gateway/call-origin.ts';
import { never } from '../async/deadline.ts';
import type { HandleSigner } from '../ports/handle-signer.ts';
import type { LlmSearch, SearchObserver, SearchProgress, SearchReply, SearchRequest } from '../ports/llm-search.ts';
import type { Look, LookError, StartedResponses } from '../ports/started-responses.ts';
import { type Answer, toAnswerError } from './answer.ts';
import { LongSearch, type LongSearchContext, type Outcome } from './long-search.ts';
import { LongSearches } from './long-searches.ts';
import { PacedLooks } from './paced-looks.ts';
import { toOutcome, WatchedSearch, watchResponse } from './watch-response.ts';

interface LongAnswersOptions extends LongSearchContext {
  readonly llmSearch: LlmSearch;
  readonly responses: StartedResponses;
  readonly signer: HandleSigner;
}

export type Answering = (request: SearchRequest, observer: SearchObserver, signal: AbortSignal) => Promise<Outcome>;

/** A call of a tool whose questions may take long. */
export interface LongCall {
  readonly request: SearchRequest;
  readonly observer: SearchObserver;
  /** Its client can get a task instead of an answer (ruling K15). */
  readonly takesTask: boolean;
}

/** What a handle names, and how its answer is made from the reply of the API. */
export interface Recovery {
  readonly handle: AnswerHandle;
  readonly request: SearchRequest;
  readonly toAnswer: (reply: SearchReply, signal: AbortSignal) => Promise<Outcome>;
}

/** What a task names, and since when (ruling K16). `answer` is the same each time. */
export type TaskStatus =
  | { readonly state: 'unknown' }
  | { readonly state: 'not_looked'; readonly error: SearchError }
  | ({ readonly createdAt: Date; readonly updatedAt: Date } & (
      | { readonly state: 'working'; readonly latest: SearchProgress | undefined; readonly language: Language }
      | { readonly state: 'cancelled' }
      | { readonly state: 'ended'; readonly answer: Outcome }
    ));

/** How a call got a search that another began: as its report says (ruling K22), and as it is counted (ruling K26). */
interface Found {
  readonly state: 'joined' | 'kept' | 'recovered';
  readonly how: 'joined' | 'kept' | 'handle';
}

/** Answers that do not depend on the calls that asked for them (rulings K5 to K25). */
export class LongAnswers {
  readonly #options: LongAnswersOptions & { readonly responses: PacedLooks };
  readonly searches: LongSearches;
  /** Continues searches with looks if their streams break. */
  readonly llmSearch: LlmSearch;

  constructor(options: LongAnswersOptions) {
    this.#options = { ...options, responses: new PacedLooks(options.responses, options.clock) };
    this.searches = new LongSearches(options);
    this.llmSearch = new WatchedSearch(this.#options);
  }

  /** The handle that a query is; undefined if it is a question (ruling K21). Without long answers, its patterns are not loaded. */
  readonly handleIn = handleIn;

  /** Whether a handle was made for the caller (ruling K12), whose rights may have changed since then. */
  isValid(handle: AnswerHandle | 'malformed', by: CallOrigin): handle is AnswerHandle {
    if (handle === 'malformed' || !by.rights().mayUse({ server: BUILT_IN_SERVER, name: handle.tool })) return false;
    const { tool, responseId, signature } = handle;
    return this.#options.signer.verify([ownerOf(by), tool, responseId], signature);
  }

  /** Answers a question: begins a search, joins the one for the same question, or returns the answer that it had. */
  async ask(call: LongCall, answer: Answering, signal: AbortSignal): Promise<Outcome> {
    const { request, observer } = call;
    const { by, question, profile, isUnlimited } = request;
    const key = JSON.stringify([ownerOf(by), question, profile, isUnlimited]);
    const known = this.searches.currentFor(key);
    if (known !== undefined) {
      const state = stateOf(known);
      return this.#wait(known, call, { state, how: state }, signal);
    }
    const { clock, config } = this.#options;
    const endMs = clock.elapsedMs() + config.longAnswers.maxMs;
    const search: LongSearch = this.searches.begin({
      key,
      tool: question.tool,
      language: languageOf(question.query),
      run: (watching, untilOver) => {
        const deadlineMs = () => (search.isOrdinary ? request.deadlineMs() : endMs);
        const onPlace: SearchRequest['onPlace'] = (giveBack) => search.options.places.onPlace(search, giveBack);
        // The call that begins the search accounts for it.
        const observed: SearchObserver = { ...watching, onUsed: (use) => observer.onUsed?.(use) };
        return answer({ ...request, isLong: true, onPlace, deadlineMs }, observed, untilOver);
      },
    });
    return this.#wait(search, call, undefined, signal);
  }

  /** Waits for the answer that a handle names (rulings K13 and K21). */
  async fetch(recovery: Recovery, caller: Omit<LongCall, 'request'>, signal: AbortSignal): Promise<Outcome> {
    const { handle, request, toAnswer } = recovery;
    const { tool, responseId: id } = handle;
    const call = { ...caller, request };
    const known = this.searches.of(id);
    if (known !== undefined) return this.#wait(known, call, { state: stateOf(known), how: 'handle' }, signal);
    const search: LongSearch = this.searches.begin({
      tool,
      language: 'en',
      foreignId: id,
      run: async ({ onCreated, onProgress }, untilOver) => {
        // Clients with an idle timeout need some.
        onProgress({ kind: 'thinking' });
        let isUnknown = false;
        const onLook = (look: Result<Look, LookError>) => {
          if (look.isOk()) {
            if (look.value.state === 'working') search.searches = look.value.searches;
            onCreated({ id, createdAt: look.value.createdAt });
          } else if (look.error.kind === 'unknown_response') isUnknown = true;
          else if (look.error.error.kind !== 'aborted') search.lookError = look.error.error;
        };
        const outcome = await watchResponse(id, request, this.#options, onLook, untilOver);
        if (isUnknown) return err({ kind: 'unknown_answer' });
        return outcome.isOk() ? toAnswer(outcome.value, untilOver) : err(toAnswerError(outcome.error));
      },
    });
    return this.#wait(search, call, { state: 'recovered', how: 'handle' }, signal);
  }

  /** What becomes of the search that a task names. One that began elsewhere is looked at, once. `isReturned`: a client gets an answer. */
  async taskStatus(recovery: Recovery, isReturned: boolean): Promise<TaskStatus> {
    const known = this.searches.of(recovery.handle.responseId);
    const isKnown = known?.isForeign === false || (known?.outcome !== undefined && known.started !== undefined);
    const found = isKnown ? known : await this.#look(recovery);
    if (!(found instanceof LongSearch)) return found;
    if (isReturned) this.searches.onTaskReturned(found);
    return statusOf(found);
  }

  /** Ends a search at the API, also one that began elsewhere (ruling K18). */
  cancelTask({ handle }: Recovery): void {
    const known = this.searches.of(handle.responseId);
    if (known?.outcome !== undefined) return;
    if (known?.isForeign === false) {
      known.cancel();
      return;
    }
    this.searches.remember(handle, undefined, err({ kind: 'search_cancelled' }));
    // The client does not wait for the API.
    void this.#options.responses.cancel(handle.responseId);
  }

  async #look({ handle, request, toAnswer }: Recovery): Promise<TaskStatus | LongSearch> {
    const look = await this.#options.responses.look(handle.responseId, request, never());
    const createdAt = look.isOk() ? look.value.createdAt : undefined;
    // Another look may have shown its end, or `tasks/cancel` has ended it, which does not know when it began.
    const known = this.searches.of(handle.responseId);
    if (known?.outcome !== undefined) return this.searches.remember(handle, createdAt, known.outcome);
    if (look.isErr()) {
      const { error } = look;
      return error.kind === 'unknown_response' ? { state: 'unknown' } : { state: 'not_looked', error: error.error };
    }
    const outcome = toOutcome(look);
    const { clock } = this.#options;
    const at = { createdAt: look.value.createdAt, updatedAt: clock.now() };
    if (outcome === undefined) return { state: 'working', ...at, latest: undefined, language: 'en' };
    const answer = outcome.isOk() ? await toAnswer(outcome.value, never()) : err(toAnswerError(outcome.error));
    const more = { state: 'recovered' as const, isShared: true as const, handle: toHandle(handle) };
    return this.searches.remember(
      handle,
      createdAt,
      answer.map((answer) => withReport(answer, more)),
    );
  }

  async #wait(search: LongSearch, call: LongCall, found: Found | undefined, signal: AbortSignal): Promise<Outcome> {
    const { request, observer, takesTask } = call;
    const { timeoutMs, longAnswers } = this.#options.config;
    const { maxMs, taskAfterMs } = longAnswers;
    const { isForeign } = search;
    const unlimitedMs = isForeign ? maxMs : Number.POSITIVE_INFINITY;
    const callMs = Math.min(timeoutMs, takesTask ? taskAfterMs : timeoutMs);
    const outcome = await search.wait(observer, request.isUnlimited ? unlimitedMs : callMs, takesTask, signal);
    const handle = this.#handleOf(search, request.by);
    const isOver = outcome === 'unfinished' || (outcome.isErr() && outcome.error.kind === 'timed_out');
    if (request.isUnlimited && isForeign && isOver)
      return err({ kind: 'timed_out', timeoutMs: maxMs, limit: 'long_answers.max_ms', ...(handle && { handle }) });
    if (outcome === 'unfinished') return this.#unfinished(search, handle, request.profile.model);
    const failed = outcome.mapErr((error): AnswerError => {
      // The call was not: it gets a failure (ruling K7).
      if (error.kind === 'cancelled' && !signal.aborted) return { kind: 'search_cancelled' };
      if (error.kind === 'timed_out') return search.lookError ?? error;
      return error.kind === 'interrupted' ? { ...error, handle } : error;
    });
    return failed.map((answer) => {
      if (found === undefined) return answer;
      if (search.isOrdinary) return withReport(answer, { isShared: true });
      this.searches.returned[found.how] += 1;
      return withReport(answer, { isShared: true, state: found.state, ...(handle && { handle }) });
    });
  }

  /** What a caller gets whose time is up (ruling K19). */
  #unfinished({ started, searches, options }: LongSearch, handle: string | undefined, model: string): Outcome {
    // Only a search whose response is known is left unfinished.
    if (handle === undefined) return err({ kind: 'cancelled' });
    const { clock, config } = this.#options;
    const now = clock.now();
    const seconds = Math.max(0, now.getTime() - (started?.createdAt ?? now).getTime()) / 1000;
    const answer = unfinishedAnswer(options.language, handle, seconds, searches);
    const isChecked = (config.citationCheck ?? 'off') !== 'off';
    const report = { queries: [], searches, attempts: 1, seconds, ...(isChecked && { checks: [] }) };
    const result = { answer, used_search: false, citations: [], model };
    return ok({ result, report: { ...report, state: 'unfinished', handle } });
  }

  #handleOf({ id: responseId, options: { tool } }: LongSearch, by: CallOrigin): string | undefined {
    if (responseId === undefined) return undefined;
    const signature = this.#options.signer.sign([ownerOf(by), tool, responseId]);
    return toHandle({ tool, responseId, signature });
  }
}

/** Who may use an answer (ruling K5). */
function ownerOf(by: CallOrigin): string {
  return isLocal(by) ? 'user' : `http:${by.caller}`;
}

function stateOf({ outcome }: LongSearch): 'joined' | 'kept' {
  return outcome === undefined ? 'joined' : 'kept';
}

function withReport({ result, report }: Answer, more: Partial<Answer['report']>): Answer {
  return { result, report: { ...report, ...more } };
}

function statusOf({ started, updatedAt, outcome, latest, options, isCancelled, failure }: LongSearch): TaskStatus {
  const at = { createdAt: started?.createdAt ?? updatedAt, updatedAt };
  if (isCancelled || failure === 'search_cancelled') return { state: 'cancelled', ...at };
  if (outcome === undefined) return { state: 'working', ...at, latest, language: options.language };
  return { state: 'ended', ...at, answer: outcome };
}
