import { err, ok, type Result } from 'neverthrow';
import { watchResponse } from '../../../application/answers/watch-response.ts';
import { whenSettled } from '../../../application/async/deadline.ts';
import { Places } from '../../../application/async/places.ts';
import type { Clock } from '../../../application/ports/clock.ts';
import type {
  LlmSearch,
  SearchObserver,
  SearchOutcome,
  SearchReply,
  SearchRequest,
} from '../../../application/ports/llm-search.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import { countUse } from '../../../application/tools/total-use.ts';
import type { SearchError } from '../../../domain/answers/answer-error.ts';
import type { ApiClient } from './api-client.ts';
import { excerpt, type Failure, type FailureContext, permanentFailure } from './failure.ts';
import { OpenAiStartedResponses } from './openai-started-responses.ts';
import { Rejections } from './rejections.ts';
import { type RequestBody, type RequestOptions, toRequestBody } from './request-body.ts';
import { ResponseEvents } from './response-events.ts';
import { readResponse } from './response-reader.ts';
import { toSearchError, toStartedFailure, toWatchedError } from './search-error.ts';
import { toSearchReply, toUse } from './search-reply.ts';

/** Saves a good reply with its body, as the API sent it. */
export type ReplyRecorder = (request: SearchRequest, reply: SearchReply, body: string) => Promise<void>;

export interface OpenAiResponsesSearchOptions extends Omit<FailureContext, 'model' | 'attempt'> {
  /** The client for a request, which calls the API or reads a recording. */
  readonly callFor: (request: SearchRequest) => Result<ApiClient, SearchError>;
  readonly request: RequestOptions;
  /** Maximum number of attempts after the first. */
  readonly maxRetries: number;
  /** Maximum number of calls that run upstream at the same time; unlimited if absent. */
  readonly maxConcurrency?: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly recorder?: ReplyRecorder | undefined;
  /** Whether the reply has the day of access, as in a recording. Otherwise, it is today. */
  readonly datesFromReply?: boolean;
  /** Returns 0 to 1, and so spreads the retries of concurrent callers. */
  readonly random?: () => number;
}

/** How long the process waits at its end for cancellations to reach the API. */
const CLOSE_MS = 1000;

const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 8000;

/** IDs that a handle can contain. */
const ID = /^[A-Za-z0-9_-]{1,90}$/;

/** OpenAI's Responses API with web_search, always streamed. */
export class OpenAiResponsesSearch implements LlmSearch {
  readonly #options: OpenAiResponsesSearchOptions;
  readonly #places: Places;
  readonly #rejections: Rejections;
  /** The cancellations that are being sent. */
  readonly #cancellations = new Set<Promise<unknown>>();

  constructor(options: OpenAiResponsesSearchOptions) {
    this.#options = options;
    this.#places = new Places(options.maxConcurrency ?? Number.POSITIVE_INFINITY);
    this.#rejections = new Rejections(options.logger);
  }

  async search(request: SearchRequest, observer: SearchObserver, signal: AbortSignal): Promise<SearchOutcome> {
    const client = this.#options.callFor(request);
    if (client.isErr()) return err(client.error);

    let wasQueued = false;
    const onQueued = (ahead: number) => {
      wasQueued = true;
      observer.onProgress({ kind: 'waiting', ahead });
    };
    if ((await this.#places.acquire(request.by.caller, onQueued, signal)) !== 'acquired')
      return err({ kind: 'aborted' });
    try {
      if (wasQueued) observer.onProgress({ kind: 'asking' });
      return await this.#ask(request, client.value, observer, signal);
    } finally {
      this.#places.release();
    }
  }

  /** Waits, for a limited time, until aborted background requests were cancelled upstream, too. */
  close(): Promise<void> {
    return whenSettled(this.#cancellations, this.#options.clock, CLOSE_MS);
  }

  /**
   * Sends a request until there is a reply, no retry is left, or the wait for another one would end after the deadline. No other layer sends a
   * failed request again.
   */
  async #ask(
    request: SearchRequest,
    client: ApiClient,
    observer: SearchObserver,
    signal: AbortSignal,
  ): Promise<SearchOutcome> {
    const { clock, maxRetries } = this.#options;
    const web = typeof request.mode === 'object' ? request.mode.web : 'open';
    let body = this.#rejections.omitFrom(toRequestBody(request, this.#options.request), request);
    this.#logRequest(body);
    const counting = countUse(observer);
    let retries = 0;
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      const reply = await this.#attempt(request, body, client, attempt, counting, signal);
      if (reply.isErr()) this.#logFailure(reply.error, attempt);
      if (signal.aborted) break;
      if (reply.isOk()) {
        const { usage, searches } = counting.total();
        return ok({ ...reply.value, report: { ...reply.value.report, searches, ...(usage && { usage }) } });
      }
      const { error, isTransient, rejection } = reply.error;
      const accepted = rejection && this.#rejections.add(body, rejection, request);
      if (accepted !== undefined) {
        // Does not count as a retry, and ends, because each rejection makes the request simpler.
        body = accepted;
        continue;
      }
      if (!isTransient || retries >= maxRetries) return err(toSearchError(reply.error, body, web));
      retries += 1;
      const askedMs = 'retryAfterMs' in error ? error.retryAfterMs : undefined;
      const waitMs = Math.ceil(askedMs ?? this.#backoffMs(retries));
      if (clock.elapsedMs() + waitMs >= request.deadlineMs) return err(toSearchError(reply.error, body, web));
      observer.onProgress({ kind: 'retrying', reason: error.kind, waitMs, attempt: attempt + 1 });
      await clock.sleep(waitMs, signal);
    }
    return err({ kind: 'aborted' });
  }

  async #attempt(
    request: SearchRequest,
    body: RequestBody,
    client: ApiClient,
    attempt: number,
    observer: Required<SearchObserver>,
    signal: AbortSignal,
  ): Promise<Result<SearchReply, Failure>> {
    const { apiKeyVariable, route, redactor, clock, recorder, datesFromReply } = this.#options;
    const { profile, timeZone, mode } = request;
    const context: FailureContext = { model: profile.model, apiKeyVariable, route, attempt, redactor };
    const isBackground = body.background === true;
    /** The ID of a response that continues if the connection ends. */
    let startedId: string | undefined;
    if (mode === 'background' && !isBackground) observer.onStarted(undefined);
    const events = new ResponseEvents(context, {
      onProgress: (progress) => {
        if (!signal.aborted) observer.onProgress(progress);
      },
      onCreated: () => {
        if (!isBackground) return;
        startedId = ID.test(events.id ?? '') ? events.id : undefined;
        if (mode === 'background') observer.onStarted(startedId);
      },
    });
    const texts: string[] = [];
    const onText = recorder && ((text: string) => texts.push(text));
    try {
      const response = await readResponse(() => client.ask(body, signal), { events, onText, clock });
      if (response.isOk()) observer.onUsed(toUse(response.value));
      const reply = response.andThen((response) =>
        toSearchReply(response, context, datesFromReply ? timeZone : undefined),
      );
      if (reply.isOk()) await recorder?.(request, reply.value, texts.join(''));
      if (startedId === undefined) return reply;
      if (mode === 'background') return reply.mapErr((failure) => toStartedFailure(failure, events));
      if (reply.isOk() || events.outcome !== undefined || signal.aborted) return reply;
      return await this.#watch(startedId, request, client, observer, signal);
    } finally {
      // The API continues a background response until it is cancelled. In the mode `background`, the caller that follows the response decides.
      const isLeft = mode === 'background' && startedId !== undefined;
      if (isBackground && !isLeft && signal.aborted && events.id !== undefined) this.#cancel(client, events.id);
    }
  }

  /** Looks at a response, whose stream broke, until it has ended. */
  async #watch(
    id: string,
    request: SearchRequest,
    client: ApiClient,
    observer: Required<SearchObserver>,
    signal: AbortSignal,
  ): Promise<Result<SearchReply, Failure>> {
    const { clock } = this.#options;
    const responses = new OpenAiStartedResponses({ ...this.#options, callFor: () => ok(client) });
    const outcome = await watchResponse(id, request, { responses, clock }, { ...observer, onLook: () => {} }, signal);
    if (outcome.isOk()) observer.onUsed(outcome.value.report);
    return outcome.mapErr((error) => permanentFailure(toWatchedError(error), error.kind));
  }

  #cancel(client: ApiClient, id: string): void {
    const cancellation = client.cancel(id).catch(() => {});
    this.#cancellations.add(cancellation);
    void cancellation.finally(() => this.#cancellations.delete(cancellation));
  }

  /** The wait before a retry, in milliseconds. */
  #backoffMs(retries: number): number {
    const { random = Math.random } = this.#options;
    return Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (retries - 1)) * (0.75 + random() / 4);
  }

  /** Logs the parameters of a request, without the question and the outputs of tools. */
  #logRequest({ input: _, instructions: __, tools = [], ...parameters }: RequestBody): void {
    const { logger } = this.#options;
    if (!logger.isDebug) return;
    const onOff = (isSent: boolean) => (isSent ? 'on' : 'off');
    const search = onOff(tools.some(({ type }) => type !== 'function'));
    const [reasoning, verbosity] = [parameters.reasoning, parameters.text].map((sent) => onOff(sent !== undefined));
    logger.debug(
      `answer: request summary tools=web_search(${search}) reasoning=${reasoning} text.verbosity=${verbosity}`,
    );
    const offered = tools.map((tool) => (tool.type === 'function' ? tool.name : tool));
    logger.debug(`openai(client): request ${JSON.stringify({ ...parameters, tools: offered })}`);
  }

  #logFailure({ log }: Failure, attempt: number): void {
    const { logger } = this.#options;
    if (!logger.isDebug) return;
    const [message, body] = [log.message, log.body ?? ''].map((text) => excerpt(text, this.#options));
    logger.debug(
      `openai(client): error attempt=${attempt} status=${log.status ?? ''} name=${log.name ?? ''} code=${log.code ?? ''} msg="${message}" body="${body}"`,
    );
  }
}
