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

    if (!signal.aborted && !this.#gate.isOpen) observer.onProgress({ kind: 'waiting', ahead: this.#gate.ahead });
    if (!(await this.#gate.enter(signal))) return err({ kind: 'aborted' });
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
    const { maxRetries, logger } = this.#options;
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
      if (attempt > maxRetries) return err(failure.error);
      const shorter = failure.rejectedParameter && withoutParameter(body, failure.rejectedParameter);
      if (shorter) {
        const parameter = failure.rejectedParameter ?? '';
        logger.warn(`openai(client): ${body.model} refused ${parameter}; asking again without it, now and from now on`);
        this.#remember(request.profile.model, parameter);
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

  #remember(model: string, parameter: string): void {
    this.#refusedParameters.set(model, new Set([...(this.#refusedParameters.get(model) ?? []), parameter]));
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
    try {
      const http = await call(body, signal);
      const response = await readResponse(http, untilAborted, context, recorder && ((text) => texts.push(text)));
      const reply = response.andThen((response) => toSearchReply(response, context, this.#options.datesFromReply));
      const isAnswer = reply.isOk() && reply.value.text.trim() !== '';
      if (isAnswer) await recorder?.record(request, texts.join(''));
      return reply;
    } catch (thrown) {
      return err(toThrownFailure(thrown, this.#options.clock.now(), context));
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

  /** Waits before the next attempt; false if the wait would outlast the deadline or was broken off. */
  async #waitFor(
    failure: Failure,
    request: SearchRequest,
    attempt: number,
    observer: SearchObserver,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { clock, random = Math.random } = this.#options;
    const backoffMs = Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (attempt - 1)) * (0.75 + random() / 4);
    const waitMs = Math.ceil(Math.max(failure.retryAfterMs ?? backoffMs, this.#gate.heldForMs));
    if (clock.elapsedMs() + waitMs >= request.deadlineMs) return false;
    observer.onProgress({ kind: 'retrying', reason: failure.error.kind, waitMs, attempt: attempt + 1 });
    return (await clock.sleep(waitMs, signal)) === 'elapsed' || signal.aborted;
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
