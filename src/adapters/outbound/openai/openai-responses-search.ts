import { err, type Result } from 'neverthrow';
import { forwardAbort } from '../../../application/forward-abort.ts';
import type {
  LlmSearch,
  SearchObserver,
  SearchOutcome,
  SearchProgress,
  SearchReply,
  SearchRequest,
} from '../../../application/ports/llm-search.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import type { SearchError } from '../../../domain/answer-error.ts';
import type { Redactor } from '../../../domain/redaction.ts';
import type { ApiCall } from './api-client.ts';
import { excerpt, type Failure, type FailureContext } from './failure.ts';
import { RejectedParameters } from './rejected-parameters.ts';
import { type RequestBody, type RequestOptions, toRequestBody } from './request-body.ts';
import { readResponse } from './response-reader.ts';
import { type RetryOptions, withRetries } from './retries.ts';
import { toSearchReply } from './search-reply.ts';
import { Semaphore } from './semaphore.ts';
import { toThrownFailure } from './thrown-failure.ts';

/** Saves the body of a good reply as the API sent it. */
export interface ReplyRecorder {
  record(request: SearchRequest, body: string): Promise<void>;
}

export interface OpenAiResponsesSearchOptions extends Omit<RetryOptions, 'random'> {
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
  /** Whether the day of access is the reply's own, as for a recording (ruling 22), or today. */
  readonly datesFromReply?: boolean;
  readonly random?: () => number;
}

interface Attempt {
  readonly call: ApiCall;
  readonly request: SearchRequest;
  readonly body: RequestBody;
  readonly number: number;
  readonly observer: SearchObserver;
}

/** OpenAI's Responses API with web_search, always streamed (ruling 16). */
export class OpenAiResponsesSearch implements LlmSearch {
  readonly #options: OpenAiResponsesSearchOptions;
  readonly #semaphore: Semaphore;
  readonly #rejected: RejectedParameters;

  constructor(options: OpenAiResponsesSearchOptions) {
    this.#options = options;
    this.#semaphore = new Semaphore(options.maxConcurrency ?? Number.POSITIVE_INFINITY);
    this.#rejected = new RejectedParameters(options.logger);
  }

  async search(request: SearchRequest, observer: SearchObserver, signal: AbortSignal): Promise<SearchOutcome> {
    const call = this.#options.callFor(request);
    if (call.isErr()) return err(call.error);

    let wasQueued = false;
    const onQueued = (position: SearchProgress) => {
      wasQueued = true;
      observer.onProgress(position);
    };
    if ((await this.#semaphore.acquire(onQueued, signal)) === 'aborted') return err({ kind: 'aborted' });
    try {
      if (wasQueued) observer.onProgress({ kind: 'asking' });
      let body = this.#rejected.omitFrom(toRequestBody(request, this.#options.request));
      this.#logRequest(body);
      const attempt = async (number: number): Promise<Result<SearchReply, Failure>> => {
        const reply = await this.#attempt({ call: call.value, request, body, number, observer }, signal);
        if (reply.isOk()) return reply;
        this.#logFailure(reply.error, number);
        const { rejection } = reply.error;
        const shorter = rejection && this.#rejected.add(body, rejection);
        body = shorter ?? body;
        return shorter === undefined ? reply : err({ ...reply.error, retry: 'immediately' });
      };
      const retries = { random: Math.random, ...this.#options };
      return await withRetries(attempt, retries, request, observer, signal);
    } finally {
      this.#semaphore.release();
    }
  }

  async #attempt(attempt: Attempt, signal: AbortSignal): Promise<Result<SearchReply, Failure>> {
    const { call, request, body, number, observer } = attempt;
    const { apiKeyVariable, route, redactor, recorder, clock, datesFromReply } = this.#options;
    const { model } = request.profile;
    const context: FailureContext = { model, apiKeyVariable, route, attempt: number, redact: redactor.inLogs };
    const untilAborted: SearchObserver = {
      onProgress: (progress) => {
        if (!signal.aborted) observer.onProgress(progress);
      },
    };
    const texts: string[] = [];
    // The client leaves a listener on the signal that it gets.
    const controller = new AbortController();
    const stopForwarding = forwardAbort(signal, controller);
    try {
      const http = await call(body, controller.signal);
      const response = await readResponse(http, untilAborted, context, recorder && ((text) => texts.push(text)));
      const reply = response.andThen((response) => toSearchReply(response, context, datesFromReply));
      if (reply.isOk() && reply.value.text.trim() !== '') await recorder?.record(request, texts.join(''));
      return reply;
    } catch (thrown) {
      return err(toThrownFailure(thrown, context, clock.now()));
    } finally {
      stopForwarding();
    }
  }

  #logRequest({ reasoning, text }: RequestBody): void {
    const onOff = (parameter: unknown) => (parameter === undefined ? 'off' : 'on');
    const parameters = `reasoning=${onOff(reasoning)} text.verbosity=${onOff(text)}`;
    this.#options.logger.debug(`answer: request summary tools=web_search(on) ${parameters}`);
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
