import { err, ok, type Result } from 'neverthrow';
import { inPlace } from '../../src/adapters/outbound/openai/in-place.ts';
import { DETACHED, untilAborted } from '../../src/application/async/deadline.ts';
import { Places } from '../../src/application/async/places.ts';
import type {
  LlmSearch,
  SearchObserver,
  SearchOutcome,
  SearchProgress,
  SearchRequest,
} from '../../src/application/ports/llm-search.ts';
import type { Look, LookError, StartedResponses } from '../../src/application/ports/started-responses.ts';
import type { SearchError } from '../../src/domain/answers/answer-error.ts';
import { FakeClock } from './fake-clock.ts';
import { searchReply } from './fake-llm-search.ts';

interface FakeResponse {
  readonly observer: SearchObserver;
  readonly createdAt: Date;
  look: Look;
  readonly settle: (outcome: SearchOutcome) => void;
}

/** An API whose responses end when the test says so. It counts what is sent to it. Their IDs are `resp_1` and so on. */
export class FakeLongApi implements LlmSearch, StartedResponses {
  readonly clock: FakeClock;
  readonly posts: SearchRequest[] = [];
  readonly cancels: string[] = [];
  readonly looks: string[] = [];
  /** False: a response has no ID until `create`. */
  createsAtOnce = true;
  /** What looks fail with, while it is set; or they never end. */
  lookError: LookError | 'hangs' | undefined;
  readonly #responses = new Map<string, FakeResponse>();

  readonly #places: Places;

  constructor(clock = new FakeClock(), maxConcurrency = Number.POSITIVE_INFINITY) {
    this.clock = clock;
    this.#places = new Places(maxConcurrency);
  }

  async search(request: SearchRequest, observer: SearchObserver, signal: AbortSignal): Promise<SearchOutcome> {
    return inPlace(this.#places, request, observer, signal, () => this.#post(request, observer, signal));
  }

  #post(request: SearchRequest, observer: SearchObserver, signal: AbortSignal): Promise<SearchOutcome> {
    this.posts.push(request);
    const id = `resp_${this.posts.length}`;
    return new Promise((resolve) => {
      const createdAt = this.clock.now();
      const look: Look = { state: 'working', searches: 0, createdAt };
      const onAbort = () => {
        if (signal.reason !== DETACHED) void this.cancel(id);
        resolve(err({ kind: 'aborted' }));
      };
      const settle = (outcome: SearchOutcome) => {
        signal.removeEventListener('abort', onAbort);
        resolve(outcome);
      };
      this.#responses.set(id, { observer, createdAt, look, settle });
      if (signal.aborted) return onAbort();
      signal.addEventListener('abort', onAbort, { once: true });
      if (this.createsAtOnce) this.create(id);
    });
  }

  /** The response gets its ID. */
  create(id: string): void {
    const { observer, createdAt } = this.#of(id);
    observer.onCreated?.({ id, createdAt });
  }

  /** The API rejects background mode: the request is sent again as an ordinary one. */
  rejectBackground(id: string): void {
    this.#of(id).observer.onOrdinary?.('rejected');
  }

  progress(id: string, progress: SearchProgress): void {
    const response = this.#of(id);
    const { look } = response;
    const isSearch = progress.kind === 'searching' && progress.query === undefined;
    if (isSearch && look.state === 'working') response.look = { ...look, searches: look.searches + 1 };
    response.observer.onProgress(progress);
  }

  /** The response ends, also if no stream is open. */
  finish(id: string, over: Parameters<typeof searchReply>[0] = {}): void {
    const response = this.#of(id);
    const reply = searchReply(over);
    response.look = { state: 'completed', reply, createdAt: response.createdAt };
    response.observer.onUsed?.(reply.report);
    response.settle(ok(reply));
  }

  fail(id: string, error: SearchError): void {
    const response = this.#of(id);
    if (error.kind !== 'interrupted') response.look = { state: 'failed', error, createdAt: response.createdAt };
    response.settle(err(error));
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
    if (response?.look.state === 'working') response.look = { state: 'cancelled', createdAt: response.createdAt };
  }

  #of(id: string): FakeResponse {
    const response = this.#responses.get(id);
    if (response === undefined) throw new Error(`There is no response ${id}.`);
    return response;
  }
}
