import { type AnswerOptions, type AskedRequest, toApiResponse } from './api-response.ts';
import {
  type ApiEvent,
  answerEvents,
  failureEvents,
  type StreamFailure,
  toSse,
  withUnknownEvents,
} from './api-stream.ts';

/** What the fake API does with one request. Make one with a function of this file. */
export type Behaviour = AnswersBehaviour | RepliesBehaviour | HoldsBehaviour | WorksBehaviour;

export interface AnswersBehaviour {
  readonly kind: 'answers';
  readonly text: string;
  readonly options: AnswerOptions;
}

export interface RepliesBehaviour {
  readonly kind: 'replies';
  readonly toReply: (request: AskedRequest) => ApiReply;
  /** The reply of which only the first `afterEvents` events are sent. */
  readonly of?: AnswersBehaviour;
  readonly afterEvents?: number;
  readonly error?: ApiFailure['error'];
}

export interface HoldsBehaviour {
  readonly kind: 'holds';
  readonly released: Promise<Behaviour>;
  /** Continues every request that waits here, and all later ones, with `behaviour`. Only the first call counts. */
  release(behaviour: Behaviour): void;
}

export interface WorksBehaviour {
  readonly kind: 'works';
  readonly of: AnswersBehaviour;
  readonly afterEvents: number;
  readonly released: Promise<StreamFailure | undefined>;
  /** Ends every response of this behavior, also of later requests: completed, or failed. Only the first call counts. */
  release(failure?: StreamFailure): void;
}

/** The bytes of a response, and how it ends. */
export interface ApiReply {
  /** Default: 200. */
  readonly status?: number;
  /** Default: `text/event-stream; charset=utf-8`. */
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Without one, there are no headers either. */
  readonly body?: string | Buffer;
  /** Bytes in place of headers and body. */
  readonly raw?: string;
  /** So many bytes per write, each flushed before the next: characters are split. */
  readonly bytesPerWrite?: number;
  /** The response stays open, or its connection is reset. Default: it ends. */
  readonly end?: 'stalls' | 'resets';
}

interface ApiFailure {
  readonly status: number;
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string | null;
  };
  readonly headers?: Readonly<Record<string, string>>;
}

const SOME_ANSWER: AnswersBehaviour = { kind: 'answers', text: 'An answer that some tests cut short.', options: {} };

/** Opening events, the item, the part, and then two deltas of an answer without a search. */
const TWO_DELTAS_IN = 6;

const JSON_TYPE = 'application/json';

const replies = (toReply: RepliesBehaviour['toReply']): RepliesBehaviour => ({ kind: 'replies', toReply });
const toBody = (events: readonly ApiEvent[]) => events.map(toSse).join('');

/** The response to a request, of a behavior that waits for nothing. */
export function replyOf(behaviour: AnswersBehaviour | RepliesBehaviour, request: AskedRequest): ApiReply {
  return behaviour.kind === 'replies' ? behaviour.toReply(request) : { body: toBody(answerEvents(behaviour, request)) };
}

/** A complete streamed reply with the text `text`. */
export function answers(text: string, options: AnswerOptions = {}): AnswersBehaviour {
  return { kind: 'answers', text, options };
}

/** The same reply as one JSON body, even if a stream was requested. */
export function answersJson(text: string, options: AnswerOptions = {}): Behaviour {
  return replies((request) => ({
    contentType: JSON_TYPE,
    body: JSON.stringify(toApiResponse({ text, options }, request), null, 2),
  }));
}

/** Exactly these bytes, for instance those of a recording. */
export function sendsBody(reply: ApiReply & { readonly body: string | Buffer }): RepliesBehaviour {
  return replies(() => reply);
}

/** Any JSON value as the body. */
export function sendsJson(value: unknown, status: number = 200): Behaviour {
  return sendsBody({ status, contentType: JSON_TYPE, body: JSON.stringify(value) });
}

/** An HTTP error with the API's `{error}` envelope. */
export function fails({ status, error, headers = {} }: ApiFailure): Behaviour {
  const reply = { status, headers, contentType: JSON_TYPE, body: JSON.stringify({ error }) };
  return { ...replies(() => reply), error };
}

/** An HTTP error as a proxy or load balancer sends it: a page. */
export function failsHtml(status: number): Behaviour {
  return sendsBody({
    status,
    contentType: 'text/html',
    body: `<html>\r\n<h1>${status} from a proxy</h1>\r\n</html>\r\n`,
  });
}

/** Reads the request and never responds. */
export function neverAnswers(): Behaviour {
  return replies(() => ({ end: 'stalls' }));
}

/** Status 200 and headers of a stream, then nothing. */
export function stallsAfterHeaders(): Behaviour {
  return sendsBody({ body: '', end: 'stalls' });
}

/** The first `afterEvents` events of the stream of `of`. */
function partly(afterEvents = TWO_DELTAS_IN, of = SOME_ANSWER, end?: 'stalls' | 'resets'): RepliesBehaviour {
  const toReply: RepliesBehaviour['toReply'] = (request) => ({
    body: toBody(answerEvents(of, request).slice(0, afterEvents)),
    ...(end && { end }),
  });
  return { ...replies(toReply), of, afterEvents };
}

/** The first events of a stream, then nothing. */
export const stallsMidStream = (afterEvents?: number, of?: AnswersBehaviour) => partly(afterEvents, of, 'stalls');

/** The first events of a stream, then the connection is reset (RST). */
export const resetsMidStream = (afterEvents?: number, of?: AnswersBehaviour) => partly(afterEvents, of, 'resets');

/** The first events of a stream, then the body ends normally: no terminal event. */
export const cutsStream = (afterEvents?: number, of?: AnswersBehaviour) => partly(afterEvents, of);

/** The connection is reset after the request was read. */
export function resetsBeforeHeaders(): Behaviour {
  return replies(() => ({ end: 'resets' }));
}

/** The connection is reset in the middle of a header's name. */
export function resetsDuringHeaders(): Behaviour {
  return replies(() => ({ raw: 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nX-Requ', end: 'resets' }));
}

/** Status 200, and a stream that reports a failure. */
export function failsInStream(failure: StreamFailure): Behaviour {
  return replies((request) => ({ body: toBody(failureEvents(failure, request)) }));
}

/** A complete stream with one more event whose data is not JSON. */
export function sendsBrokenEvent(): Behaviour {
  return replies((request) => {
    const events = answerEvents(SOME_ANSWER, request);
    const broken = 'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"cut o\n\n';
    return { body: toBody(events.slice(0, TWO_DELTAS_IN)) + broken + toBody(events.slice(TWO_DELTAS_IN)) };
  });
}

/** A complete stream with events of unknown types after each event, and one after the terminal event. */
export function sendsUnknownEvents(): Behaviour {
  return replies((request) => ({ body: toBody(withUnknownEvents(answerEvents(SOME_ANSWER, request))) }));
}

/** The same bytes, so many per write. */
export function inSlices(behaviour: AnswersBehaviour | RepliesBehaviour, bytesPerWrite: number): Behaviour {
  return replies((request) => ({ ...replyOf(behaviour, request), bytesPerWrite }));
}

/** Keeps the request waiting until the test calls `release`. */
export function holds(): HoldsBehaviour {
  let release: (behaviour: Behaviour) => void = () => undefined;
  const released = new Promise<Behaviour>((resolve) => {
    release = resolve;
  });
  return { kind: 'holds', released, release };
}

/** A background response: its first events, then nothing until the test releases it. */
export function works(of: AnswersBehaviour = SOME_ANSWER, afterEvents: number = 2): WorksBehaviour {
  let release: WorksBehaviour['release'] = () => undefined;
  const released = new Promise<StreamFailure | undefined>((resolve) => {
    release = resolve;
  });
  return { kind: 'works', of, afterEvents, released, release };
}
