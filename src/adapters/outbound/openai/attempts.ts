import { ok, type Result } from 'neverthrow';
import { untilLastLook, watchResponse } from '../../../application/answers/watch-response.ts';
import { whenSettled } from '../../../application/async/deadline.ts';
import type {
  SearchObserver,
  SearchProgress,
  SearchReply,
  SearchRequest,
} from '../../../application/ports/llm-search.ts';
import type { Clock } from '../../../application/ports/services.ts';
import type { SearchError } from '../../../domain/answers/answer-error.ts';
import { withoutUndefined } from '../../../domain/values/json.ts';
import type { ApiClient } from './api-client.ts';
import { type Failure, type FailureContext, permanentFailure } from './failure.ts';
import { OpenAiStartedResponses } from './openai-started-responses.ts';
import type { RequestBody } from './request-body.ts';
import { ResponseEvents } from './response-events.ts';
import { readResponse } from './response-reader.ts';
import { toSearchReply, toUse } from './search-reply.ts';

/** Saves a good reply with its body, as the API sent it. */
export type ReplyRecorder = (request: SearchRequest, reply: SearchReply, body: string) => Promise<void>;

export interface AttemptOptions extends Omit<FailureContext, 'model' | 'attempt'> {
  readonly clock: Clock;
  readonly recorder?: ReplyRecorder | undefined;
  /** Whether the reply has the day of access, as in a recording. Otherwise, it is today. */
  readonly datesFromReply?: boolean;
}

/** One request to the API, and those that wait for its response. */
interface Attempt {
  readonly request: SearchRequest;
  readonly body: RequestBody;
  readonly client: ApiClient;
  /** From 1. */
  readonly number: number;
  readonly observer: Required<SearchObserver>;
}

/** How long the process waits at its end for cancellations to reach the API. */
const CLOSE_MS = 1000;

/** IDs that a handle can contain. */
const ID = /^[A-Za-z0-9_-]{1,90}$/;

/** Sends requests to the API, each once, and reads their responses. */
export class Attempts {
  readonly #options: AttemptOptions;
  /** The cancellations that are being sent. */
  readonly #cancellations = new Set<Promise<unknown>>();

  constructor(options: AttemptOptions) {
    this.#options = options;
  }

  send(attempt: Attempt, signal: AbortSignal): Promise<Result<SearchReply, Failure>> {
    const { request, body, observer } = attempt;
    if (body.background === true) return this.#inBackground(attempt, signal);
    // The response ends with the connection.
    if (request.mode === 'background') observer.onStarted(undefined);
    return this.#read(
      attempt,
      this.#eventsOf(attempt, () => {}, signal),
      signal,
    );
  }

  /**
   * Sends a request whose response the API continues until it is cancelled. If its stream breaks, it is looked at until it has ended. In the mode
   * `background`, the caller follows the response as soon as it has an ID, and decides about both.
   */
  async #inBackground(attempt: Attempt, signal: AbortSignal): Promise<Result<SearchReply, Failure>> {
    const { request, client, observer } = attempt;
    const hasFollower = request.mode === 'background';
    let startedId: string | undefined;
    const onCreated = () => {
      startedId = ID.test(events.id ?? '') ? events.id : undefined;
      if (hasFollower) observer.onStarted(startedId);
    };
    const events = this.#eventsOf(attempt, onCreated, signal);
    try {
      const reply = await this.#read(attempt, events, signal);
      if (startedId === undefined) return reply;
      if (hasFollower) return reply.mapErr((failure) => toStartedFailure(failure, events));
      if (reply.isOk() || events.outcome !== undefined || signal.aborted) return reply;
      return await this.#watch(startedId, attempt, signal);
    } finally {
      const isFollowed = hasFollower && startedId !== undefined;
      if (!isFollowed && signal.aborted && events.id !== undefined) this.#cancel(client, events.id);
    }
  }

  #eventsOf(
    { request: { profile }, number: attempt, observer }: Attempt,
    onCreated: () => void,
    signal: AbortSignal,
  ): ResponseEvents {
    const { apiKeyVariable, route, redactor } = this.#options;
    const onProgress = (progress: SearchProgress) => {
      if (!signal.aborted) observer.onProgress(progress);
    };
    const context = { model: profile.model, apiKeyVariable, route, attempt, redactor };
    return new ResponseEvents(context, { onProgress, onCreated });
  }

  /** Sends the request of an attempt, and reads the response. */
  async #read(
    { request, body, client, observer }: Attempt,
    events: ResponseEvents,
    signal: AbortSignal,
  ): Promise<Result<SearchReply, Failure>> {
    const { clock, recorder, datesFromReply } = this.#options;
    const texts: string[] = [];
    const onText = recorder && ((text: string) => texts.push(text));
    const response = await readResponse(() => client.ask(body, signal), { events, onText, clock });
    if (response.isOk()) observer.onUsed(toUse(response.value));
    const datedIn = datesFromReply ? request.timeZone : undefined;
    const reply = response.andThen((response) => toSearchReply(response, events.context, datedIn));
    if (reply.isOk()) await recorder?.(request, reply.value, texts.join(''));
    return reply;
  }

  /** Looks at a response, whose stream broke, until it has ended. */
  async #watch(
    id: string,
    { request, client, observer }: Attempt,
    signal: AbortSignal,
  ): Promise<Result<SearchReply, Failure>> {
    const { clock } = this.#options;
    const responses = new OpenAiStartedResponses({ ...this.#options, callFor: () => ok(client) });
    const pause = (ms: number, signal: AbortSignal) =>
      clock.sleep(Math.min(ms, untilLastLook([request.deadlineMs], clock)), signal);
    const watching = { ...observer, onLook: () => {}, pause };
    const outcome = await watchResponse({ id, request }, { responses, clock }, watching, signal);
    if (outcome.isOk()) observer.onUsed(outcome.value.report);
    return outcome.mapErr((error) => permanentFailure(toWatchedError(error), error.kind));
  }

  #cancel(client: ApiClient, id: string): void {
    const cancellation = client.cancel(id).catch(() => {});
    this.#cancellations.add(cancellation);
    void cancellation.finally(() => this.#cancellations.delete(cancellation));
  }

  /** Waits, for a limited time, until the cancellations were sent. */
  close(): Promise<void> {
    return whenSettled(this.#cancellations, this.#options.clock, CLOSE_MS);
  }
}

/** The failure of a request whose response has started: it is not sent again. A response whose end was not read can be looked at. */
function toStartedFailure({ error, log }: Failure, { outcome }: ResponseEvents): Failure {
  const { diagnostics } = error;
  const interrupted = { kind: 'interrupted' as const, ...withoutUndefined({ diagnostics }) };
  return { error: outcome === undefined ? interrupted : error, isTransient: false, log };
}

/** The error of a response that was looked at, if no other call can look at it. */
function toWatchedError(error: SearchError): SearchError {
  if (error.kind === 'unknown_answer') return { kind: 'failed', detail: 'the API no longer has the response' };
  return error.kind === 'interrupted' ? (error.reason ?? error) : error;
}
