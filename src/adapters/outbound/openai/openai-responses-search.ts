import { err, type Result } from 'neverthrow';
import { forwardAbort } from '../../../application/deadline.ts';
import { Places } from '../../../application/places.ts';
import type {
  LlmSearch,
  SearchObserver,
  SearchOutcome,
  SearchProgress,
  SearchReply,
  SearchRequest,
} from '../../../application/ports/llm-search.ts';
import type { LlmTurns, Turn, TurnRequest } from '../../../application/ports/llm-turns.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import { countUse } from '../../../application/total-use.ts';
import type { SearchError } from '../../../domain/answer-error.ts';
import type { JsonObject } from '../../../domain/json.ts';
import type { Redactor } from '../../../domain/redaction.ts';
import type { ApiCall } from './api-client.ts';
import type { RequestBody } from './api-types.ts';
import { BackgroundCalls, readResumable } from './background-response.ts';
import { excerpt, type Failure, type FailureContext } from './failure.ts';
import { FlexTier } from './flex-tier.ts';
import { RejectedParameters } from './rejected-parameters.ts';
import { type RequestOptions, toRequestBody } from './request-body.ts';
import { ResponseEvents } from './response-events.ts';
import { backoffMs, type RetryOptions, withRetries } from './retries.ts';
import { toSearchReply, toUse } from './search-reply.ts';
import { toThrownFailure } from './thrown-failure.ts';
import { toTurn } from './turn.ts';
import { toTurnBody } from './turn-body.ts';
import { TurnRejections, toTurnError } from './turn-rejections.ts';

/** Saves the body of a good reply as the API sent it. */
export interface ReplyRecorder {
  record(request: SearchRequest, body: string): Promise<void>;
}

/** Gets each response of a conversation with the body as the API sent it. */
export interface TurnRecorder {
  record(request: TurnRequest, turn: Turn, body: string): Promise<void>;
}

export interface OpenAiResponsesSearchOptions extends Omit<RetryOptions, 'random' | 'waitFor'> {
  /** Sends a request to the API, or to a recording of it. */
  readonly callFor: (request: SearchRequest) => Result<ApiCall, SearchError>;
  readonly request: RequestOptions;
  /** Maximum number of calls that run upstream at the same time; unlimited if absent. */
  readonly maxConcurrency?: number;
  readonly apiKeyVariable: string;
  /** The API's host, and the proxy on the way to it. */
  readonly route: string;
  readonly logger: Logger;
  readonly redactor: Redactor;
  readonly recorder?: ReplyRecorder;
  readonly turnRecorder?: TurnRecorder;
  /** Whether the day of access is the reply's own, as for a recording (ruling 22), or today. */
  readonly datesFromReply?: boolean;
  readonly random?: () => number;
}

/** A request, and how its response is read. */
interface Exchange<T> {
  readonly request: SearchRequest;
  readonly body: RequestBody;
  readonly read: (response: JsonObject, context: FailureContext) => Result<T, Failure>;
  /** The body for another attempt after a rejection that only this kind of request has. */
  readonly adapt?: (body: RequestBody, failure: Failure) => RequestBody | undefined;
  /** Records a good reply, with the body as the API sent it. */
  readonly record?: ((reply: T, body: string) => Promise<void>) | undefined;
}

interface AskError {
  readonly error: SearchError;
  readonly body: RequestBody;
  readonly rejection: Failure['rejection'];
}

/** OpenAI's Responses API with web_search, always streamed (ruling 16). */
export class OpenAiResponsesSearch implements LlmSearch, LlmTurns {
  readonly #options: OpenAiResponsesSearchOptions;
  readonly #places: Places;
  readonly #rejected: RejectedParameters;
  readonly #rejectedInTurns: TurnRejections;
  readonly #background = new BackgroundCalls();

  constructor(options: OpenAiResponsesSearchOptions) {
    this.#options = options;
    this.#places = new Places(options.maxConcurrency ?? Number.POSITIVE_INFINITY);
    this.#rejected = new RejectedParameters(options.logger);
    this.#rejectedInTurns = new TurnRejections(options.logger);
  }

  async search(request: SearchRequest, observer: SearchObserver, signal: AbortSignal): Promise<SearchOutcome> {
    const { datesFromReply, recorder } = this.#options;
    const exchange: Exchange<SearchReply> = {
      request,
      body: toRequestBody(request, this.#options.request),
      read: (response, context) => toSearchReply(response, context, datesFromReply ? request.timeZone : undefined),
      record: recorder && (async ({ text }, body) => (text.trim() === '' ? undefined : recorder.record(request, body))),
    };
    const counting = countUse(observer);
    const outcome = await this.#ask(exchange, counting, signal);
    const { usage, searches } = counting.total();
    const used = { searches, ...(usage && { usage }) };
    return outcome.map((reply) => ({ ...reply, report: { ...reply.report, ...used } })).mapErr(toRequestError);
  }

  async turn(request: TurnRequest, observer: SearchObserver, signal: AbortSignal): Promise<Result<Turn, SearchError>> {
    const { datesFromReply, turnRecorder } = this.#options;
    const exchange: Exchange<Turn> = {
      request,
      record: turnRecorder && ((turn, body) => turnRecorder.record(request, turn, body)),
      body: this.#rejectedInTurns.omitFrom(toTurnBody(request, this.#options.request)),
      read: (response, context) => toTurn(response, context, datesFromReply ? request.timeZone : undefined),
      adapt: (body, failure) => this.#rejectedInTurns.add(body, failure, request.web === 'closed'),
    };
    const outcome = await this.#ask(exchange, observer, signal);
    // With an open web, only the configuration closes the search tool.
    const toError = request.web === 'open' ? toRequestError : ({ error }: AskError) => error;
    return outcome.mapErr((failed) => toTurnError(toError(failed), failed.body, failed.rejection, request.web));
  }

  /** Waits until cancelled background responses were cancelled upstream, too. */
  close(): Promise<void> {
    return this.#background.close(this.#options.clock);
  }

  /** Sends a request in its turn, and again as the rulings allow. An error comes with the request that it is about. */
  async #ask<T>(exchange: Exchange<T>, observer: SearchObserver, signal: AbortSignal): Promise<Result<T, AskError>> {
    const { request } = exchange;
    const { clock } = this.#options;
    let body = this.#rejected.omitFrom(exchange.body);
    let rejection: Failure['rejection'];
    const failed = (error: SearchError): AskError => ({ error, body, rejection });
    const call = this.#options.callFor(request);
    if (call.isErr()) return err(failed(call.error));

    let wasQueued = false;
    const onQueued = (position: SearchProgress) => {
      wasQueued = true;
      observer.onProgress(position);
    };
    if ((await this.#places.acquire(request.caller, onQueued, signal)) === 'aborted')
      return err(failed({ kind: 'aborted' }));
    try {
      if (wasQueued) observer.onProgress({ kind: 'asking' });
      this.#logRequest(body);
      const flex = new FlexTier(body, clock.elapsedMs(), request.deadlineMs, this.#options.maxRetries);
      const attempt = async (number: number): Promise<Result<T, Failure>> => {
        body = flex.bodyFor(body, clock.elapsedMs());
        const attempted = this.#attempt(exchange, body, call.value, number, observer, signal);
        const reply = await (body.background === true ? this.#background.track(attempted) : attempted);
        if (reply.isOk()) return reply;
        this.#logFailure(reply.error, number);
        ({ rejection } = reply.error);
        const adapted = exchange.adapt?.(body, reply.error);
        const shorter = adapted ?? (rejection && this.#rejected.add(body, rejection));
        if (shorter === undefined) return reply;
        body = shorter;
        return err({ ...reply.error, retry: adapted === undefined ? 'immediately' : 'changed' });
      };
      const waitFor = (number: number, waitMs: number) => flex.waitFor(body, number, waitMs, clock.elapsedMs());
      const retries = { random: Math.random, ...this.#options, waitFor };
      return (await withRetries(attempt, retries, request, observer, signal)).mapErr(failed);
    } finally {
      this.#places.release(request.caller);
    }
  }

  async #attempt<T>(
    { request, read, record, adapt }: Exchange<T>,
    body: RequestBody,
    call: ApiCall,
    number: number,
    observer: SearchObserver,
    signal: AbortSignal,
  ): Promise<Result<T, Failure>> {
    const { apiKeyVariable, route, redactor, clock, maxRetries, random = Math.random } = this.#options;
    const { model } = request.profile;
    const context: FailureContext = { model, apiKeyVariable, route, attempt: number, redact: redactor.inLogs };
    const untilAborted: SearchObserver = {
      onProgress: (progress) => {
        if (!signal.aborted) observer.onProgress(progress);
      },
    };
    const isBackground = body.background === true;
    const events = new ResponseEvents(untilAborted, context, adapt !== undefined, isBackground);
    const texts: string[] = [];
    // The client leaves a listener on the signal that it gets.
    const controller = new AbortController();
    const stopForwarding = forwardAbort(signal, controller);
    try {
      const http = await call(body, controller.signal);
      const onText = record && ((text: string) => void texts.push(text));
      const resumable = {
        call,
        events,
        context,
        onText,
        maxResumptions: isBackground ? maxRetries : undefined,
        wait: (resumptions: number) => clock.sleep(backoffMs(resumptions, random()), controller.signal),
      };
      const response = await readResumable(http, resumable, controller.signal);
      if (response.isOk()) observer.onUsed?.(toUse(response.value));
      const reply = response.andThen((response) => read(response, context));
      if (reply.isOk()) await record?.(reply.value, texts.join(''));
      return reply;
    } catch (thrown) {
      return err(toThrownFailure(thrown, context, clock.now()));
    } finally {
      if (isBackground && signal.aborted) this.#background.cancel(call, events);
      stopForwarding();
    }
  }

  #logRequest({ tools = [], reasoning, text }: RequestBody): void {
    const onOff = (parameter: unknown) => (parameter === undefined ? 'off' : 'on');
    const web = tools.find(({ type }) => type === (this.#options.request.tool ?? 'web_search'));
    const isClosed = web !== undefined && 'external_web_access' in web;
    const count = tools.filter(({ type }) => type === 'function').length;
    const offered = `tools=web_search(${isClosed ? 'closed' : onOff(web)})${count === 0 ? '' : ` functions=${count}`}`;
    const parameters = `reasoning=${onOff(reasoning)} text.verbosity=${onOff(text)}`;
    this.#options.logger.debug(`answer: request summary ${offered} ${parameters}`);
  }

  #logFailure({ log }: Failure, attempt: number): void {
    const { logger, redactor } = this.#options;
    if (!logger.isDebug) return;
    // Redacted before it is shortened: a part of a key would not be recognized.
    const [message, body] = [log.message, log.body ?? ''].map((text) => excerpt(redactor.inLogs(text)));
    logger.debug(
      `openai(client): error attempt=${attempt} status=${log.status ?? ''} name=${log.name ?? ''} code=${log.code ?? ''} msg="${message}" body="${body}"`,
    );
  }
}

/** Without the option that the user set, nothing is sent: the error says which it is (ruling A3). */
function toRequestError({ error, body, rejection }: AskError): SearchError {
  const isCachedOnly = JSON.stringify(body.tools ?? []).includes('"external_web_access":false');
  if (error.kind !== 'bad_request' || !isCachedOnly) return error;
  const isAbout = /external_web_access/.test(`${rejection?.param} ${error.detail}`);
  if (!isAbout) return error;
  return { kind: 'cached_search_rejected', detail: error.detail };
}
