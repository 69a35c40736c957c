import type { AnswerOptions } from './api-response.ts';
import type { StreamFailure } from './api-stream.ts';

/** What the fake API does with one request. Make one with the function of the same name. */
export type Behaviour =
  | AnswersBehaviour
  | { readonly kind: 'answersJson'; readonly text: string; readonly options: AnswerOptions }
  | ({ readonly kind: 'sendsBody' } & VerbatimBody)
  | ({ readonly kind: 'fails' } & ApiFailure)
  | { readonly kind: 'failsHtml'; readonly status: number }
  | { readonly kind: 'neverAnswers' }
  | { readonly kind: 'stallsAfterHeaders' }
  | ({ readonly kind: 'stallsMidStream' } & Partly)
  | { readonly kind: 'resetsBeforeHeaders' }
  | { readonly kind: 'resetsDuringHeaders' }
  | ({ readonly kind: 'resetsMidStream' } & Partly)
  | ({ readonly kind: 'cutsStream' } & Partly)
  | ({ readonly kind: 'failsInStream' } & StreamFailure)
  | ({ readonly kind: 'sendsBrokenEvent'; readonly data: string } & Partly)
  | { readonly kind: 'sendsUnknownEvents'; readonly of: AnswersBehaviour }
  | { readonly kind: 'emptyBody' }
  | { readonly kind: 'sendsJson'; readonly value: unknown; readonly status: number }
  | HoldsBehaviour
  | WorksBehaviour
  | { readonly kind: 'inSlices'; readonly behaviour: Behaviour; readonly bytesPerWrite: number };

export interface AnswersBehaviour {
  readonly kind: 'answers';
  readonly text: string;
  readonly options: AnswerOptions;
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

export interface VerbatimBody {
  readonly status?: number;
  /** Default: `text/event-stream; charset=utf-8`. */
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

export interface ApiFailure {
  readonly status: number;
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string | null;
  };
  readonly headers?: Readonly<Record<string, string>>;
}

/** The first `afterEvents` events of the stream of `of`. */
interface Partly {
  readonly afterEvents: number;
  readonly of: AnswersBehaviour;
}

const SOME_ANSWER: AnswersBehaviour = { kind: 'answers', text: 'An answer that some tests cut short.', options: {} };

/** Opening events, the item, the part, and then two deltas of an answer without a search. */
const TWO_DELTAS_IN = 6;

/** A complete streamed reply with the text `text`. */
export function answers(text: string, options: AnswerOptions = {}): AnswersBehaviour {
  return { kind: 'answers', text, options };
}

/** The same reply as one JSON body, even if a stream was requested. */
export function answersJson(text: string, options: AnswerOptions = {}): Behaviour {
  return { kind: 'answersJson', text, options };
}

/** Exactly these bytes, for instance those of a recording. */
export function sendsBody(body: VerbatimBody): Behaviour {
  return { kind: 'sendsBody', ...body };
}

/** An HTTP error with the API's `{error}` envelope. */
export function fails(failure: ApiFailure): Behaviour {
  return { kind: 'fails', ...failure };
}

/** An HTTP error as a proxy or load balancer sends it: a page. */
export function failsHtml(status: number): Behaviour {
  return { kind: 'failsHtml', status };
}

/** Reads the request and never responds. */
export function neverAnswers(): Behaviour {
  return { kind: 'neverAnswers' };
}

/** Status 200 and headers of a stream, then nothing. */
export function stallsAfterHeaders(): Behaviour {
  return { kind: 'stallsAfterHeaders' };
}

/** The first events of a stream, then nothing. */
export function stallsMidStream(afterEvents: number = TWO_DELTAS_IN, of: AnswersBehaviour = SOME_ANSWER): Behaviour {
  return { kind: 'stallsMidStream', afterEvents, of };
}

/** The connection is reset (RST) after the request was read. */
export function resetsBeforeHeaders(): Behaviour {
  return { kind: 'resetsBeforeHeaders' };
}

/** The connection is reset in the middle of a header's name. */
export function resetsDuringHeaders(): Behaviour {
  return { kind: 'resetsDuringHeaders' };
}

/** The first events of a stream, then the connection is reset. */
export function resetsMidStream(afterEvents: number = TWO_DELTAS_IN, of: AnswersBehaviour = SOME_ANSWER): Behaviour {
  return { kind: 'resetsMidStream', afterEvents, of };
}

/** The first events of a stream, then the body ends normally: no terminal event. */
export function cutsStream(afterEvents: number = TWO_DELTAS_IN, of: AnswersBehaviour = SOME_ANSWER): Behaviour {
  return { kind: 'cutsStream', afterEvents, of };
}

/** Status 200, and a stream that reports a failure. */
export function failsInStream(failure: StreamFailure): Behaviour {
  return { kind: 'failsInStream', ...failure };
}

/** A complete stream with one more event, after the first `afterEvents`, whose data is not JSON. */
export function sendsBrokenEvent(
  afterEvents: number = TWO_DELTAS_IN,
  of: AnswersBehaviour = SOME_ANSWER,
  data: string = '{"type":"response.output_text.delta","delta":"cut o',
): Behaviour {
  return { kind: 'sendsBrokenEvent', afterEvents, of, data };
}

/** A complete stream with events of unknown types after each event, and one after the terminal event. */
export function sendsUnknownEvents(of: AnswersBehaviour = SOME_ANSWER): Behaviour {
  return { kind: 'sendsUnknownEvents', of };
}

/** Status 200, headers of a stream, and a body of no bytes. */
export function emptyBody(): Behaviour {
  return { kind: 'emptyBody' };
}

/** Any JSON value as the body. */
export function sendsJson(value: unknown, status: number = 200): Behaviour {
  return { kind: 'sendsJson', value, status };
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

/** The same bytes, so many per write, each flushed before the next: characters are split. */
export function inSlices(behaviour: Behaviour, bytesPerWrite: number): Behaviour {
  return { kind: 'inSlices', behaviour, bytesPerWrite };
}
