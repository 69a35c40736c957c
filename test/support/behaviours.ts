import { type AskedRequest, responseBody, type ScriptedResponse } from './api-response.ts';
import { failureEvents, responseEvents, type StreamFailure, toSse } from './api-stream.ts';
import { says, searches } from './conversation-items.ts';
import { deferred } from './fake-llm-search.ts';

/** What the fake API does with one request. Make one with a function of this file. */
export type Behaviour = AnswersBehaviour | RepliesBehaviour | HoldsBehaviour | WorksBehaviour;

interface AnswersBehaviour {
  readonly kind: 'answers';
  readonly response: ScriptedResponse;
  readonly delayMs?: number | undefined;
}

interface RepliesBehaviour {
  readonly kind: 'replies';
  readonly toReply: (request: AskedRequest) => ApiReply;
  /** The reply of which only the first `afterEvents` events are sent. */
  readonly of?: AnswersBehaviour;
  readonly afterEvents?: number;
}

interface HoldsBehaviour {
  readonly kind: 'holds';
  readonly released: Promise<Behaviour>;
  /** Continues every request that waits here, and all later ones, with `behaviour`. Only the first call counts. */
  release(behaviour: Behaviour): void;
}

interface WorksBehaviour {
  readonly kind: 'works';
  readonly of: AnswersBehaviour;
  readonly afterEvents: number;
  readonly released: Promise<StreamFailure | undefined>;
  /** Ends every response of this behavior, also of later requests: completed, or failed. Only the first call counts. */
  release(failure?: StreamFailure): void;
}

/** The bytes of a response, and how it ends. */
interface ApiReply {
  /** Default: 200. */
  readonly status?: number;
  /** Default: `text/event-stream; charset=utf-8`. */
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Without one, there are no headers either. */
  readonly body?: string | Buffer;
  /** The response stays open, or its connection is reset. Default: it ends. */
  readonly end?: 'stalls' | 'resets';
}

interface ApiFailure {
  readonly status: number;
  readonly error?: {
    readonly message?: string;
    readonly type?: string;
    readonly param?: string | null;
    readonly code?: string | null;
    readonly misalignment?: object;
  };
  readonly headers?: Readonly<Record<string, string>>;
}

interface AnswerOptions {
  readonly citations?: readonly { readonly url: string; readonly title: string }[];
  /** Sent only if the request's `include` asks for `web_search_call.action.sources`, as the real API does. */
  readonly sources?: readonly ({ readonly url: string } | { readonly name: string })[];
  /** Whether the model searched, or its query. Default: it did if there are citations or sources. */
  readonly search?: boolean | string;
  /** Time before the headers of the response. */
  readonly delayMs?: number;
  readonly chunks?: number;
  /** A refusal instead of the text. */
  readonly refusal?: string;
  readonly incomplete?: 'max_output_tokens';
}

const JSON_TYPE = 'application/json';

const replies = (toReply: RepliesBehaviour['toReply']): RepliesBehaviour => ({ kind: 'replies', toReply });

/** The response to a request, of a behavior that waits for nothing. */
export function replyOf(behaviour: AnswersBehaviour | RepliesBehaviour, request: AskedRequest): ApiReply {
  if (behaviour.kind === 'replies') return behaviour.toReply(request);
  const { response } = behaviour;
  if (response.isJson === true)
    return { contentType: JSON_TYPE, body: JSON.stringify(responseBody(response, request)) };
  return { body: toSse(...responseEvents(response, request)) };
}

/** A complete response with these items. */
export function responds(response: ScriptedResponse): AnswersBehaviour {
  return { kind: 'answers', response };
}

/** A complete streamed reply with the text `text`. */
export function answers(text: string, options: AnswerOptions = {}): AnswersBehaviour {
  const { citations = [], sources = [], delayMs, chunks, refusal, incomplete } = options;
  const { search = citations.length > 0 || options.sources !== undefined } = options;
  const message = says('answer', refusal ?? text, { citations, isRefusal: refusal !== undefined });
  const names = sources.map((source) => ('url' in source ? source.url : source.name));
  const query = typeof search === 'string' ? search : 'what the user asked';
  const items = search === false ? [message] : [searches('answer', query, names), message];
  return { kind: 'answers', response: { items, chunks, incomplete }, delayMs };
}

const SOME_ANSWER = answers('An answer that some tests cut short.');

/** Exactly these bytes, for instance those of a recording. */
export function sendsBody(reply: ApiReply & { readonly body: string | Buffer }): Behaviour {
  return replies(() => reply);
}

/** Any JSON value as the body. */
export function sendsJson(value: unknown, status: number = 200): Behaviour {
  return sendsBody({ status, contentType: JSON_TYPE, body: JSON.stringify(value) });
}

/** An HTTP error with the API's `{error}` envelope. */
export function fails({ status, error = {}, headers = {} }: ApiFailure): Behaviour {
  const message = `Something with ${status}.`;
  const complete = { message, type: 'invalid_request_error', param: null, code: null, ...error };
  return sendsBody({ status, headers, contentType: JSON_TYPE, body: JSON.stringify({ error: complete }) });
}

/** Status 200, and a stream that reports a failure. */
export function failsInStream(failure: StreamFailure): Behaviour {
  return replies((request) => ({ body: toSse(...failureEvents(failure, request)) }));
}

/** Reads the request and never responds. */
export function neverAnswers(): Behaviour {
  return replies(() => ({ end: 'stalls' }));
}

/** Reads the request and resets its connection. */
export function resets(): Behaviour {
  return replies(() => ({ end: 'resets' }));
}

/** The first events of the stream of a reply; by default, up to the second delta of a text. */
function partly(end: { readonly end?: 'stalls' | 'resets' }) {
  return (afterEvents = 4, of = SOME_ANSWER): Behaviour => {
    const toReply = (request: AskedRequest) => ({
      body: toSse(...responseEvents(of.response, request).slice(0, afterEvents)),
      ...end,
    });
    return { ...replies(toReply), of, afterEvents };
  };
}

/** The first events of a stream, then nothing. */
export const stallsMidStream = partly({ end: 'stalls' });

/** The first events of a stream, then the connection is reset (RST). */
export const resetsMidStream = partly({ end: 'resets' });

/** The first events of a stream, then the body ends normally: no terminal event. */
export const cutsStream = partly({});

/** Keeps the request waiting until the test calls `release`. */
export function holds(): HoldsBehaviour {
  const { promise, settle } = deferred<Behaviour>();
  return { kind: 'holds', released: promise, release: settle };
}

/** A background response: its first events, then nothing until the test releases it. */
export function works(of: AnswersBehaviour = SOME_ANSWER, afterEvents: number = 2): WorksBehaviour {
  const { promise, settle } = deferred<StreamFailure | undefined>();
  return { kind: 'works', of, afterEvents, released: promise, release: settle };
}
