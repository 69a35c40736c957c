import { err, ok, type Result } from 'neverthrow';
import { untilAborted } from '../../src/application/async/deadline.ts';
import type {
  LlmSearch,
  Look,
  LookError,
  SearchObserver,
  SearchOutcome,
  SearchProgress,
  SearchRequest,
  StartedResponses,
} from '../../src/application/ports/llm-search.ts';
import type { SearchError } from '../../src/domain/answers/answer-error.ts';
import { FakeClock } from './fake-clock.ts';
import { searchReply } from './fake-llm-search.ts';

interface FakeResponse {
  readonly observer: SearchObserver;
  /** Whether its stream is read. */
  readonly isOpen: () => boolean;
  look: Look;
  readonly settle: (outcome: SearchOutcome) => void;
}

/** An API whose responses end when the test says so. It counts what is sent to it. Their IDs are `resp_1` and so on. */
export class FakeLongApi implements LlmSearch, StartedResponses {
  readonly clock = new FakeClock();
  readonly posts: SearchRequest[] = [];
  readonly cancels: string[] = [];
  readonly looks: string[] = [];
  /** False: a response has no ID until `create`. */
  createsAtOnce = true;
  /** What looks fail with, while it is set; or they never end. */
  lookError: LookError | 'hangs' | undefined;
  readonly #responses = new Map<string, FakeResponse>();

  search(request: SearchRequest, observer: SearchObserver, signal: AbortSignal): Promise<SearchOutcome> {
    this.posts.push(request);
    const id = `resp_${this.posts.length}`;
    return new Promise((resolve) => {
      const onAbort = () => resolve(err({ kind: 'aborted' }));
      const settle = (outcome: SearchOutcome) => {
        signal.removeEventListener('abort', onAbort);
        resolve(outcome);
      };
      this.#responses.set(id, { observer, isOpen: () => !signal.aborted, look: { searches: 0 }, settle });
      signal.addEventListener('abort', onAbort, { once: true });
      if (this.createsAtOnce) observer.onStarted?.(id);
    });
  }

  /** The response gets its ID. */
  create(id: string): void {
    this.#of(id).observer.onStarted?.(id);
  }

  /** The API rejects background mode: the request is sent again as an ordinary one. */
  rejectBackground(id: string): void {
    this.#of(id).observer.onStarted?.(undefined);
  }

  progress(id: string, progress: SearchProgress): void {
    const response = this.#of(id);
    const isSearch = progress.kind === 'searching' && progress.query === undefined;
    if (isSearch) response.look = { searches: response.look.searches + 1 };
    response.observer.onProgress(progress);
  }

  /** The response ends, also if no stream is open. */
  finish(id: string, over: Parameters<typeof searchReply>[0] = {}): void {
    const reply = searchReply(over);
    const { observer, isOpen } = this.#of(id);
    if (isOpen()) observer.onUsed?.(reply.report);
    this.#end(id, ok(reply));
  }

  fail(id: string, error: SearchError): void {
    if (error.kind === 'interrupted') this.#of(id).settle(err(error));
    else this.#end(id, err(error));
  }

  async look(id: string, _: unknown, signal: AbortSignal): Promise<Result<Look, LookError>> {
    const aborted: LookError = { kind: 'not_looked', error: { kind: 'aborted' }, isPassing: false };
    if (signal.aborted) return err(aborted);
    this.looks.push(id);
    if (this.lookError === 'hangs') return untilAborted(new Promise<never>(() => {}), signal).then(() => err(aborted));
    if (this.lookError !== undefined) return err(this.lookError);
    const response = this.#responses.get(id);
    return response === undefined ? err({ kind: 'unknown_response' }) : ok(response.look);
  }

  async cancel(id: string): Promise<void> {
    this.cancels.push(id);
    const response = this.#responses.get(id);
    if (response?.look.outcome === undefined && response !== undefined)
      response.look = { ...response.look, outcome: err({ kind: 'search_cancelled' }) };
  }

  #end(id: string, outcome: SearchOutcome): void {
    const response = this.#of(id);
    response.look = { ...response.look, outcome };
    response.settle(outcome);
  }

  #of(id: string): FakeResponse {
    const response = this.#responses.get(id);
    if (response === undefined) throw new Error(`There is no response ${id}.`);
    return response;
  }
}
