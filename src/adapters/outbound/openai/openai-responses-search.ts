import { err, ok } from 'neverthrow';
import { Places } from '../../../application/async/places.ts';
import type {
  LlmSearch,
  SearchObserver,
  SearchOutcome,
  SearchRequest,
  WebAccess,
} from '../../../application/ports/llm-search.ts';
import type { Logger } from '../../../application/ports/services.ts';
import { countUse } from '../../../application/tools/total-use.ts';
import type { SearchError } from '../../../domain/answers/answer-error.ts';
import type { ApiClient, ClientFor } from './api-client.ts';
import { type AttemptOptions, Attempts } from './attempts.ts';
import { excerpt, type Failure } from './failure.ts';
import { isAboutStore, isClosed, Rejections, STREAM } from './rejections.ts';
import { type RequestBody, type RequestOptions, toRequestBody } from './request-body.ts';

export interface OpenAiResponsesSearchOptions extends AttemptOptions {
  /** The client for a request, which calls the API or reads a recording. */
  readonly callFor: (signal: AbortSignal, request: SearchRequest) => ReturnType<ClientFor>;
  readonly request: RequestOptions;
  /** Maximum number of attempts after the first. */
  readonly maxRetries: number;
  /** Maximum number of calls that run upstream at the same time; unlimited if absent. */
  readonly maxConcurrency?: number;
  readonly logger: Logger;
  /** Returns 0 to 1, and so spreads the retries of concurrent callers. */
  readonly random?: () => number;
}

const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 8000;

/** OpenAI's Responses API with web_search, streamed unless the API refuses that. */
export class OpenAiResponsesSearch implements LlmSearch {
  readonly #options: OpenAiResponsesSearchOptions;
  readonly #places: Places;
  readonly #rejections: Rejections;
  readonly #attempts: Attempts;

  constructor(options: OpenAiResponsesSearchOptions) {
    this.#options = options;
    this.#places = new Places(options.maxConcurrency ?? Number.POSITIVE_INFINITY);
    this.#rejections = new Rejections(options.logger);
    this.#attempts = new Attempts(options);
  }

  async search(request: SearchRequest, observer: SearchObserver, signal: AbortSignal): Promise<SearchOutcome> {
    const called = this.#options.callFor(signal, request);
    const client = called instanceof Promise ? await called : called;
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
    return this.#attempts.close();
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
      if (body[STREAM] === undefined) observer.onProgress({ kind: 'unstreamed' });
      const reply = await this.#attempts.send({ request, body, client, number: attempt, observer: counting }, signal);
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

/** The error of an answer for a failure, with the more specific kinds that the request shows. */
function toSearchError({ error, rejection }: Failure, body: RequestBody, web: WebAccess): SearchError {
  const { kind } = error;
  if (kind !== 'bad_request' && kind !== 'server_error') return error;
  const { detail } = error;
  const param = rejection?.param ?? '';
  const about = `${param} ${detail}`;
  if (kind === 'bad_request') {
    // Here, only `search.live: false` closes the search. It is not left out of a second request; the error names this key.
    if (web !== 'closed' && isClosed(body) && /external_web_access/.test(about))
      return { kind: 'cached_search_rejected', detail };
    if (isAboutStore(body, { param, message: detail })) return { kind: 'store_required', detail };
    const isAboutInput = /^input\b/.test(param) || /\bitem (?:with id )?'|No tool call found/i.test(detail);
    if (Array.isArray(body.input) && body.input.length > 1 && isAboutInput) return { kind: 'history_rejected', detail };
  }
  const isAboutWeb = (kind === 'bad_request' ? ABOUT_WEB : UNDECLARED_SEARCH).test(about);
  return web === 'closed' && isAboutWeb ? { kind: 'web_not_restricted', detail } : error;
}

const ABOUT_WEB = /^tools\b|tool_choice|allowed_tools|web_search|external_web_access/;
/** Matches the report of a back end if the history has a search, but the request declares no search tool. */
const UNDECLARED_SEARCH = /response protection/i;
