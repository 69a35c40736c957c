import { err, ok, type Result } from 'neverthrow';
import type { Clock } from '../../../application/ports/clock.ts';
import type { LlmSearch, SearchObserver, SearchReply, SearchRequest } from '../../../application/ports/llm-search.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import type { SearchError } from '../../../domain/answer-error.ts';
import type { Redactor } from '../../../domain/redaction.ts';
import type { ApiCall } from './api-client.ts';
import { excerpt, type Failure, type FailureContext } from './failure.ts';
import { type RequestBody, type RequestOptions, toRequestBody, withoutParameter } from './request-body.ts';
import { readResponse } from './response-reader.ts';
import { toSearchReply } from './search-reply.ts';
import { toThrownFailure } from './thrown-failure.ts';
import { UpstreamGate } from './upstream-gate.ts';

/** Keeps the bytes of a good reply, as the API sent them. */
export interface ReplyRecorder {
  record(request: SearchRequest, body: string): Promise<void>;
}

export interface OpenAiResponsesSearchOptions {
  /** How one request reaches the API: the network's way, or a recording's. */
  readonly callFor: (request: SearchRequest) => Result<ApiCall, SearchError>;
  readonly request: RequestOptions;
  /** Most attempts after the first. */
  readonly maxRetries: number;
  /** Most calls that run upstream at a time; unbounded where absent. */
  readonly maxConcurrency?: number;
  readonly apiKeyVariable: string;
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly redactor: Redactor;
  readonly recorder?: ReplyRecorder;
  /** Whether the day of access is the reply's own, as for a recording (ruling 22); else it is today. */
  readonly datesFromReply?: boolean;
  /** 0 to 1; spreads the retries of many callers. */
  readonly random?: () => number;
}

const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 8000;

/** OpenAI's Responses API with web_search, always streamed; the only layer that retries (rulings 12 and 16). */
export class OpenAiResponsesSearch implements LlmSearch {
  readonly #options: OpenAiResponsesSearchOptions;
  readonly #gate: UpstreamGate;
  /** Optional parameters that a model refused before, by model id: not sent again. */
  readonly #refusedParameters = new Map<string, Set<string>>();

  constructor(options: OpenAiResponsesSearchOptions) {
    this.#options = options;
    this.#gate = new UpstreamGate(options.maxConcurrency ?? Number.POSITIVE_INFINITY, options.clock);
  }

  async search(
    request: SearchRequest,
    observer: SearchObserver,
    signal: AbortSignal,
  ): Promise<Result<SearchReply, SearchError>> {
    const call = this.#options.callFor(request);
    if (call.isErr()) return err(call.error);

    const willWait = !this.#gate.isOpen && !this.#gate.isHeldBeyond(request);
    if (!signal.aborted && willWait) observer.onProgress({ kind: 'waiting', ahead: this.#gate.ahead });
    const entry = await this.#gate.enter(request, signal);
    if (entry === 'aborted') return err({ kind: 'aborted' });
    if (entry === 'held') {
      const retryAfterMs = this.#gate.heldForMs;
      return err({ kind: 'rate_limited', attempts: 0, retryAfterMs, detail: 'it asked other calls to wait' });
    }
    try {
      return await this.#askUntilAnswered(call.value, request, observer, signal);
    } finally {
      this.#gate.leave();
    }
  }

  async #askUntilAnswered(
    call: ApiCall,
    request: SearchRequest,
    observer: SearchObserver,
    signal: AbortSignal,
  ): Promise<Result<SearchReply, SearchError>> {
    const { maxRetries } = this.#options;
    let body = this.#bodyOf(request);
    this.#logRequest(body);
    for (let attempt = 1; ; attempt += 1) {
      if (signal.aborted) return err({ kind: 'aborted' });
      const reply = await this.#attempt(call, request, body, attempt, observer, signal);
      if (signal.aborted) return err({ kind: 'aborted' });
      if (reply.isOk()) return ok(reply.value);

      const failure = reply.error;
      this.#logFailure(failure, attempt);
      if (failure.isPassing && failure.retryAfterMs !== undefined) this.#gate.holdBack(failure.retryAfterMs);
      const refused = failure.rejectedParameter;
      const shorter = refused && withoutParameter(body, refused);
      if (refused && shorter) this.#remember(request.profile.model, refused);
      if (attempt > maxRetries) return err(failure.error);
      if (shorter) {
        body = shorter;
      } else if (!failure.isPassing || !(await this.#waitFor(failure, request, attempt, observer, signal))) {
        return err(failure.error);
      }
    }
  }

  #bodyOf(request: SearchRequest): RequestBody {
    const refused = this.#refusedParameters.get(request.profile.model) ?? [];
    return [...refused].reduce(
      (body, parameter) => withoutParameter(body, parameter) ?? body,
      toRequestBody(request, this.#options.request),
    );
  }

  /** Calls that run at the same time meet the same refusal: it is told once. */
  #remember(model: string, parameter: string): void {
    const refused = this.#refusedParameters.get(model) ?? new Set();
    if (refused.has(parameter)) return;
    this.#refusedParameters.set(model, refused.add(parameter));
    this.#options.logger.warn(`openai(client): ${model} refused ${parameter}; it is left out from now on`);
  }

  async #attempt(
    call: ApiCall,
    request: SearchRequest,
    body: RequestBody,
    attempt: number,
    observer: SearchObserver,
    signal: AbortSignal,
  ): Promise<Result<SearchReply, Failure>> {
    const context = this.#contextOf(request, attempt);
    const untilAborted: SearchObserver = {
      onProgress: (progress) => {
        if (!signal.aborted) observer.onProgress(progress);
      },
    };
    const { recorder } = this.#options;
    const texts: string[] = [];
    // Not AbortSignal.any: Node.js keeps what that gives for ever once it has a listener, and the client leaves one.
    const own = new AbortController();
    const onAbort = () => own.abort(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      const http = await call(body, own.signal);
      const response = await readResponse(http, untilAborted, context, recorder && ((text) => texts.push(text)));
      const reply = response.andThen((response) => toSearchReply(response, context, this.#options.datesFromReply));
      const isAnswer = reply.isOk() && reply.value.text.trim() !== '';
      if (isAnswer) await recorder?.record(request, texts.join(''));
      return reply;
    } catch (thrown) {
      return err(toThrownFailure(thrown, this.#options.clock.now(), context));
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  #contextOf(request: SearchRequest, attempt: number): FailureContext {
    const { apiKeyVariable, baseUrl, redactor } = this.#options;
    return {
      model: request.profile.model,
      apiKeyVariable,
      host: new URL(baseUrl).host,
      attempt,
      redact: redactor.inLogs,
    };
  }

  /** Waits before the next attempt, or until `signal` aborts; false if the wait would outlast the deadline. */
  async #waitFor(
    failure: Failure,
    request: SearchRequest,
    attempt: number,
    observer: SearchObserver,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { clock, random = Math.random } = this.#options;
    const backoffMs = Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (attempt - 1)) * (0.75 + random() / 4);
    let waitMs = Math.ceil(Math.max(failure.retryAfterMs ?? backoffMs, this.#gate.heldForMs));
    do {
      if (clock.elapsedMs() + waitMs >= request.deadlineMs) return false;
      observer.onProgress({ kind: 'retrying', reason: failure.error.kind, waitMs, attempt: attempt + 1 });
      // The caller looks at the signal itself.
      if ((await clock.sleep(waitMs, signal)) === 'aborted') return true;
      // Another call may have been asked to wait meanwhile.
      waitMs = Math.ceil(this.#gate.heldForMs);
    } while (waitMs > 0);
    return true;
  }

  #logRequest(body: RequestBody): void {
    const onOff = (isOn: boolean) => (isOn ? 'on' : 'off');
    this.#options.logger.debug(
      `answer: request summary tools=web_search(on) reasoning=${onOff(body.reasoning !== undefined)} text.verbosity=${onOff(body.text !== undefined)}`,
    );
  }

  #logFailure({ log }: Failure, attempt: number): void {
    const { logger, redactor } = this.#options;
    if (!logger.isDebug) return;
    // Redacted before it is cut: half a key is no longer known.
    const [message, body] = [log.message, log.body ?? ''].map((text) => excerpt(redactor.inLogs(text)));
    logger.debug(
      `openai(client): error attempt=${attempt} status=${log.status ?? ''} name=${log.name ?? ''} code=${log.code ?? ''} msg="${message}" body="${body}"`,
    );
  }
}
