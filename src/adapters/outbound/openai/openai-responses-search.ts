import { err, ok, type Result } from 'neverthrow';
import { DETACHED, forwardAbort, untilAborted, whenSettled } from '../../../application/async/deadline.ts';
import { Places } from '../../../application/async/places.ts';
import { countUse } from '../../../application/grounded/total-use.ts';
import type { Clock } from '../../../application/ports/clock.ts';
import type {
  LlmSearch,
  SearchObserver,
  SearchOutcome,
  SearchReply,
  SearchRequest,
  WebAccess,
} from '../../../application/ports/llm-search.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import type { SearchError } from '../../../domain/answers/answer-error.ts';
import type { ApiClient } from './api-client.ts';
import { excerpt, type Failure, type FailureContext } from './failure.ts';
import { inPlace } from './in-place.ts';
import { isClosed, Rejections } from './rejections.ts';
import { type RequestBody, type RequestOptions, toRequestBody, WEB_SEARCH } from './request-body.ts';
import { ResponseEvents } from './response-events.ts';
import { readResponse, readResumable } from './response-reader.ts';
import { toSearchReply, toUse } from './search-reply.ts';
import { backoffMs, flexWaitMs, withoutLateFlex } from './waits.ts';

/** Saves good replies with their bodies, as the API sent them. */
export type ReplyRecorder = (request: SearchRequest, reply: SearchReply, body: string) => Promise<void>;

export interface OpenAiResponsesSearchOptions extends Omit<FailureContext, 'model' | 'attempt'> {
  /** Sends a request to the API, or to a recording of it. */
  readonly callFor: (request: SearchRequest) => Result<ApiClient, SearchError>;
  readonly request: RequestOptions;
  /** Maximum number of attempts after the first. */
  readonly maxRetries: number;
  /** Maximum number of calls that run upstream at the same time; unlimited if absent. */
  readonly maxConcurrency?: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly recorder?: ReplyRecorder | undefined;
  /** Whether the day of access is the reply's own, as for a recording (ruling 22), or today. */
  readonly datesFromReply?: boolean;
  /** 0 to 1; spreads the retries of concurrent callers. */
  readonly random?: () => number;
}

/** How long the process waits at its end for cancellations to reach the API. */
const CLOSE_MS = 1000;

/** OpenAI's Responses API with web_search, always streamed (ruling 16). */
export class OpenAiResponsesSearch implements LlmSearch {
  readonly #options: OpenAiResponsesSearchOptions;
  readonly #random: () => number;
  readonly #places: Places;
  readonly #rejections: Rejections;
  /** The requests in background mode, and their cancellations. */
  readonly #unfinished = new Set<Promise<unknown>>();

  constructor(options: OpenAiResponsesSearchOptions) {
    this.#options = options;
    this.#random = options.random ?? Math.random;
    this.#places = new Places(options.maxConcurrency ?? Number.POSITIVE_INFINITY);
    this.#rejections = new Rejections(options.logger);
  }

  async search(request: SearchRequest, observer: SearchObserver, signal: AbortSignal): Promise<SearchOutcome> {
    const client = this.#options.callFor(request);
    if (client.isErr()) return err(client.error);

    return inPlace(this.#places, request, observer, signal, () => this.#ask(request, client.value, observer, signal));
  }

  /** Waits, for a limited time, until aborted background requests have ended and were cancelled upstream, too. */
  close(): Promise<void> {
    return whenSettled(this.#unfinished, this.#options.clock, CLOSE_MS);
  }

  /**
   * Sends a request until there is a reply, no retry is left, or the wait for another one would end after the deadline. This is the only layer
   * that retries (ruling 12).
   */
  async #ask(
    request: SearchRequest,
    client: ApiClient,
    observer: SearchObserver,
    signal: AbortSignal,
  ): Promise<SearchOutcome> {
    const { clock, maxRetries } = this.#options;
    const web = request.conversation?.web ?? 'open';
    let body = this.#rejections.omitFrom(toRequestBody(request, this.#options.request), request);
    this.#logRequest(body);
    const halfMs = (clock.elapsedMs() + request.deadlineMs()) / 2;
    const counting = countUse(observer);
    let retries = 0;
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      body = withoutLateFlex(body, halfMs - clock.elapsedMs());
      const attempted = this.#attempt(request, body, client, attempt, counting, signal);
      // A long request may be kept for a moment after an abort.
      const reply = await (body.background === true ? untilAborted(this.#track(attempted), signal) : attempted);
      if (reply === 'aborted') break;
      if (reply.isErr()) this.#logFailure(reply.error, attempt);
      if (signal.aborted) break;
      if (reply.isOk()) {
        const { usage, searches } = counting.total();
        return ok({ ...reply.value, report: { ...reply.value.report, searches, ...(usage && { usage }) } });
      }
      const { error, isTransient, rejection } = reply.error;
      const change = rejection && this.#rejections.add(body, rejection, request);
      const mayRetry = (isTransient || change !== undefined) && retries < maxRetries;
      if (!mayRetry && change?.isFree !== true) return err(toSearchError(reply.error, body, web));
      if (change !== undefined) {
        body = change.body;
        if (!change.isFree) retries += 1;
        continue;
      }
      retries += 1;
      const askedMs = 'retryAfterMs' in error ? error.retryAfterMs : undefined;
      const backoff = askedMs ?? backoffMs(retries, this.#random());
      const waitMs = Math.ceil(flexWaitMs(body, backoff, halfMs - clock.elapsedMs(), retries >= maxRetries));
      if (clock.elapsedMs() + waitMs >= request.deadlineMs()) return err(toSearchError(reply.error, body, web));
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
    const { apiKeyVariable, route, redactor, clock, maxRetries, recorder, datesFromReply } = this.#options;
    const { profile, timeZone, conversation, isLong } = request;
    const context: FailureContext = { model: profile.model, apiKeyVariable, route, attempt, redactor };
    const isBackground = body.background === true;
    if (isLong === true && !isBackground) observer.onOrdinary('rejected');
    // The client may leave a listener on the signal that it gets.
    const controller = new AbortController();
    const events = new ResponseEvents(context, {
      onProgress: (progress) => {
        if (!signal.aborted) observer.onProgress(progress);
      },
      prefersItems: conversation !== undefined,
      isResumable: isBackground,
      onCreated: (response) => long?.onCreated(response),
    });
    const long =
      isBackground && isLong === true
        ? (await import('./long-response.ts')).longResponse(observer, clock, signal, controller, events)
        : undefined;
    const texts: string[] = [];
    const onText = recorder && ((text: string) => texts.push(text));
    const stopForwarding = long === undefined ? forwardAbort(signal, controller) : long.forwardAbort();
    const wait = (resumptions: number) => clock.sleep(backoffMs(resumptions, this.#random()), controller.signal);
    const open = () => client.ask(body, controller.signal);
    const reading = { client, events, onText, clock, maxRetries, wait };
    try {
      const response = await (isBackground
        ? readResumable(open, reading, controller.signal)
        : readResponse(open, reading));
      if (response.isOk()) observer.onUsed(toUse(response.value));
      const reply = response.andThen((response) =>
        toSearchReply(response, context, datesFromReply ? timeZone : undefined),
      );
      if (reply.isOk()) await recorder?.(request, reply.value, texts.join(''));
      return long === undefined ? reply : reply.mapErr(long.toFailure);
    } finally {
      // The API continues a background response until it is cancelled.
      if (isBackground && signal.aborted && signal.reason !== DETACHED && events.id !== undefined)
        void this.#track(client.cancel(events.id).catch(() => {}));
      stopForwarding();
    }
  }

  #track<T>(promise: Promise<T>): Promise<T> {
    this.#unfinished.add(promise);
    return promise.finally(() => this.#unfinished.delete(promise));
  }

  #logRequest({ tools = [], reasoning, text }: RequestBody): void {
    const onOff = (parameter: unknown) => (parameter === undefined ? 'off' : 'on');
    const web = tools.find(({ type }) => type === (this.#options.request.tool ?? WEB_SEARCH));
    const isLimited = web !== undefined && 'external_web_access' in web;
    const count = tools.filter(({ type }) => type === 'function').length;
    const offered = `tools=web_search(${isLimited ? 'closed' : onOff(web)})${count === 0 ? '' : ` functions=${count}`}`;
    const parameters = `reasoning=${onOff(reasoning)} text.verbosity=${onOff(text)}`;
    this.#options.logger.debug(`answer: request summary ${offered} ${parameters}`);
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

/** What a failure means for an answer (rulings A3, L13, L19). */
function toSearchError({ error, rejection }: Failure, body: RequestBody, web: WebAccess): SearchError {
  const { kind } = error;
  if (kind !== 'bad_request' && kind !== 'server_error') return error;
  const { detail } = error;
  const param = rejection?.param ?? '';
  const about = `${param} ${detail}`;
  if (kind === 'bad_request') {
    // Only the configuration closes the search of an open web. Nothing is sent without it: the error says which option it is.
    if (web !== 'closed' && isClosed(body) && /external_web_access/.test(about))
      return { kind: 'cached_search_rejected', detail };
    const isAboutInput = /^input\b/.test(param) || /\bitem (?:with id )?'|No tool call found/i.test(detail);
    if (Array.isArray(body.input) && body.input.length > 1 && isAboutInput) return { kind: 'history_rejected', detail };
  }
  const isAboutWeb = (kind === 'bad_request' ? ABOUT_WEB : UNDECLARED_SEARCH).test(about);
  return web === 'closed' && isAboutWeb ? { kind: 'web_not_restricted', detail } : error;
}

const ABOUT_WEB = /^tools\b|tool_choice|allowed_tools|web_search|external_web_access/;
/** What a back end reports if the history has a search, but the request declares no search tool. */
const UNDECLARED_SEARCH = /response protection/i;
