import { err, type Result } from 'neverthrow';
import type { SearchError } from '../../domain/answers/answer-error.ts';
import { type AnswerHandle, toHandle } from '../../domain/answers/answer-handle.ts';
import type { Language } from '../../domain/answers/question.ts';
import { BUILT_IN_SERVER, type CallOrigin, isLocal, LOCAL_CALLER } from '../../domain/gateway/call-origin.ts';
import { BoundedMap } from '../../domain/values/bounded-map.ts';
import type { Kind } from '../../domain/values/kind.ts';
import { forwardAbort, TIMED_OUT, whenSettled } from '../async/deadline.ts';
import type { HandleSigner } from '../ports/callers.ts';
import type { SearchObserver, SearchReply, SearchRequest } from '../ports/llm-search.ts';
import { type Ending, StartedSearch, type StartedSearchOptions } from './started-search.ts';

interface LongAnswersOptions extends StartedSearchOptions {
  readonly signer: HandleSigner;
  /** Reads the key with which handles are signed, if it has to be read. */
  readonly prepareKey?: ((signal: AbortSignal) => Promise<unknown>) | undefined;
  /** How long the same question follows the same response, in milliseconds. */
  readonly keepMs: number;
}

/** Why a call has no reply, if its time limit has passed while its response continues. */
export type Unfinished = Kind<
  'unfinished',
  {
    readonly handle: string;
    readonly language: Language;
    /** How long this process has waited for the response. */
    readonly waitedMs: number;
    readonly searches: number;
  }
>;

export type LongOutcome = Result<SearchReply, SearchError | Unfinished>;

/** A call that waits for a response. */
interface Waiting {
  readonly request: SearchRequest;
  readonly observer: SearchObserver;
  readonly onCancel: Ending;
}

/** Maximum number of responses that a process remembers. */
const MAX_REMEMBERED = 100;
/** How long the exit may wait for cancellations. */
const CLOSE_MS = 1000;

/** Answers that outlive the calls that ask for them. The API keeps them; this process remembers only the response of each question. */
export class LongAnswers {
  readonly #options: LongAnswersOptions;
  /** By question, or by handle; the oldest first. */
  readonly #remembered = new BoundedMap<string, StartedSearch>(MAX_REMEMBERED);
  readonly #pending = new Set<Promise<unknown>>();
  #endWaits = new AbortController();
  #waits = 0;

  constructor(options: LongAnswersOptions) {
    this.#options = options;
  }

  /** Makes ready to check a handle. */
  async prepare(signal: AbortSignal): Promise<void> {
    await this.#options.prepareKey?.(signal);
  }

  /** Whether a handle was made for the caller, whose rights may have changed since then. */
  isValid(handle: AnswerHandle | 'malformed', by: CallOrigin): handle is AnswerHandle {
    if (handle === 'malformed' || !by.rights.mayUse({ server: BUILT_IN_SERVER, name: handle.tool })) return false;
    return this.#options.signer.verify([ownerOf(by), handle.tool, handle.responseId], handle.signature);
  }

  /** Asks a question, or follows the response that the same question of the same caller has already got. */
  async search(request: SearchRequest, observer: SearchObserver, signal: AbortSignal): Promise<LongOutcome> {
    const { by, question, profile } = request;
    const waiting = { request, observer, onCancel: 'cancel' } as const;
    const key = JSON.stringify([ownerOf(by), question, profile]);
    const known = this.#knownFor(key);
    if (known !== undefined) {
      const outcome = await this.#wait(known, waiting, signal);
      if (!isLost(outcome)) return asRecovered(outcome, this.#handleOf(known, request));
      // The API no longer has the response, so the question is asked again.
    }
    const begun = this.#remember(key, request);
    const outcome = await this.#wait(begun, waiting, signal);
    return isLost(outcome) ? err({ kind: 'failed', detail: 'the API no longer has the response' }) : outcome;
  }

  /** Waits for the answer of a valid handle. The end of the wait cancels nothing, because other processes may wait for the answer, too. */
  async fetch(
    handle: AnswerHandle,
    request: SearchRequest,
    observer: SearchObserver,
    signal: AbortSignal,
  ): Promise<LongOutcome> {
    const { responseId } = handle;
    const known = [...this.#remembered.values()].find(({ id }) => id === responseId);
    const search = known ?? this.#remember(toHandle(handle), request, responseId);
    const outcome = await this.#wait(search, { request, observer, onCancel: 'leave' }, signal);
    return asRecovered(outcome, toHandle(handle));
  }

  /** Ends each wait whose response is known, as a time limit does. Returns whether a call was waiting. */
  endWaits(): boolean {
    const hasWaited = this.#waits > 0;
    this.#endWaits.abort(TIMED_OUT);
    this.#endWaits = new AbortController();
    return hasWaited;
  }

  /** Stops reading, and waits a limited time until the cancellations are sent. */
  async close(): Promise<void> {
    for (const search of this.#remembered.values()) search.stop();
    await whenSettled(this.#pending, this.#options.clock, CLOSE_MS);
  }

  async #wait(
    search: StartedSearch,
    { request, observer, onCancel }: Waiting,
    signal: AbortSignal,
  ): Promise<LongOutcome> {
    const { clock } = this.#options;
    const limit = new AbortController();
    const stops = [forwardAbort(signal, limit), forwardAbort(this.#endWaits.signal, limit)];
    this.#waits += 1;
    const outcome = await search.wait({ observer, onCancel, deadlineMs: request.deadlineMs }, limit.signal);
    this.#waits -= 1;
    for (const stop of stops) stop();
    const handle = this.#handleOf(search, request);
    if (outcome.isOk() || handle === undefined) return outcome;
    const { error } = outcome;
    if (error.kind === 'interrupted') return err({ ...error, handle });
    if (error.kind !== 'aborted' || limit.signal.reason !== TIMED_OUT) return outcome;
    const { language, searches, startedMs } = search;
    return err({ kind: 'unfinished', handle, language, searches, waitedMs: clock.elapsedMs() - startedMs });
  }

  #knownFor(key: string): StartedSearch | undefined {
    const known = this.#remembered.get(key);
    const { clock, keepMs } = this.#options;
    return known !== undefined && clock.elapsedMs() - known.startedMs < keepMs ? known : undefined;
  }

  #remember(key: string, request: SearchRequest, foreignId?: string): StartedSearch {
    const search: StartedSearch = new StartedSearch({
      ...this.#options,
      request,
      ...(foreignId !== undefined && { foreignId }),
      onOver: () => this.#remembered.get(key) === search && this.#remembered.delete(key),
      track: (promise) => {
        this.#pending.add(promise);
        const forget = () => this.#pending.delete(promise);
        promise.then(forget, forget);
      },
    });
    this.#remembered.set(key, search);
    return search;
  }

  #handleOf({ id }: StartedSearch, { by, question: { tool } }: SearchRequest): string | undefined {
    if (id === undefined) return undefined;
    return toHandle({ tool, responseId: id, signature: this.#options.signer.sign([ownerOf(by), tool, id]) });
  }
}

/** The owner of an answer. The user of this machine is one owner for stdio, `ask`, and HTTP without tokens. */
function ownerOf(by: CallOrigin): string {
  if (isLocal(by) || by.caller === LOCAL_CALLER) return 'user';
  // Another claim than the subject may name several persons alike.
  const { sub } = by.subject ?? {};
  return sub === undefined || by.caller === `oauth:${sub}` ? `http:${by.caller}` : `http:${by.caller} ${sub}`;
}

/** Whether the API no longer has the response. */
function isLost(outcome: LongOutcome): boolean {
  return outcome.isErr() && outcome.error.kind === 'unknown_answer';
}

/** A reply that another call accounts for. */
function asRecovered(outcome: LongOutcome, handle: string | undefined): LongOutcome {
  if (handle === undefined) return outcome;
  const more = { state: 'recovered' as const, isShared: true as const, handle };
  return outcome.map((reply) => ({ ...reply, report: { ...reply.report, ...more } }));
}
