import { StringDecoder } from 'node:string_decoder';
import { createParser, type EventSourceParser } from 'eventsource-parser';
import { err, ok, type Result } from 'neverthrow';
import type { Clock } from '../../../application/ports/services.ts';
import { isObject, type JsonObject, parseShortNumbers } from '../../../domain/values/json.ts';
import { type ApiResponse, MAX_LENGTH, RefusedResponse, TOO_LARGE, textOf } from './api-fetch.ts';
import { excerpt, type Failure, permanentFailure, toThrownFailure } from './failure.ts';
import type { ResponseEvents } from './response-events.ts';
import { toResponse } from './response-forms.ts';
import { shownText } from './shown-text.ts';

interface Reading {
  readonly events: ResponseEvents;
  /** Receives the text of the body, in parts. */
  readonly onText?: ((text: string) => void) | undefined;
  readonly clock: Clock;
}

/**
 * Reads a response: an event stream, or a single JSON body from a server that does not stream. A stream that ends without its terminal event is a
 * broken connection, unless its items are complete.
 */
export async function readResponse(
  open: () => Promise<ApiResponse>,
  reading: Reading,
): Promise<Result<JsonObject, Failure>> {
  const { events, clock } = reading;
  try {
    const { headers, body } = await open();
    events.context = { ...events.context, response: { headers, now: clock.now() } };
    if (/^\s*text\/event-stream/i.test(headers.get('content-type') ?? '') && body !== null)
      return await readStream(body, reading);
    const text = await textOf(body);
    if (FIELD.test(text.trimStart())) return await readStream([Buffer.from(text)], reading);
    reading.onText?.(text);
    return readText(text, events);
  } catch (thrown) {
    return err(toThrownFailure(thrown, events.context, clock.now()));
  }
}

/** Reads a text that is no event stream: a response in JSON, or what a proxy sends in its place. */
function readText(text: string, events: ResponseEvents): Result<JsonObject, Failure> {
  const body = parseShortNumbers(text);
  if (isObject(body)) {
    const response = toResponse(body);
    events.takeResponse(response);
    return ok(response);
  }
  const words = excerpt(shownText(text), events.context);
  const detail = text.trim() === '' ? 'an empty body' : `neither JSON nor an event stream: ${words}`;
  return err(permanentFailure({ kind: 'unreadable_reply', detail }, detail, text));
}

/** The beginning of a line of an event stream. */
const FIELD = /^(?:event|data|id|retry)?:/;

/** How long a stream may be silent after its last item is complete, and after a failure without a reason. */
const SILENCE_MS = 10_000;
const REASON_MS = 1000;

/** Reads a stream until its terminal event. */
async function readStream(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  { events, onText, clock }: Reading,
): Promise<Result<JsonObject, Failure>> {
  const parser = new StreamParser(events, onText);
  const chunks = Symbol.asyncIterator in body ? body[Symbol.asyncIterator]() : body[Symbol.iterator]();
  try {
    for (;;) {
      const silenceMs = events.lacksReason ? REASON_MS : events.isAnswered ? SILENCE_MS : undefined;
      const next = silenceMs === undefined ? await chunks.next() : await nextWithin(silenceMs, chunks, clock);
      if (next === 'silent' || next.done === true) break;
      parser.take(next.value);
      if (events.outcome !== undefined && !events.lacksReason) return events.outcome;
    }
    parser.end();
  } catch (thrown) {
    // What breaks after the last item was complete takes nothing from the answer.
    if (events.answered === undefined || thrown instanceof RefusedResponse) throw thrown;
  } finally {
    void chunks.return?.();
  }
  const { outcome, answered } = events;
  if (outcome !== undefined) return outcome;
  if (answered !== undefined) return ok(answered);
  const strange = parser.strangeText || events.strangeData;
  if (strange === '') throw new Error('the stream ended too early');
  return readText(strange, events);
}

type Chunks = AsyncIterator<Uint8Array, unknown> | Iterator<Uint8Array, unknown>;

/** The next chunk, or `silent` if none comes within a time. */
async function nextWithin(ms: number, chunks: Chunks, clock: Clock): Promise<IteratorResult<Uint8Array> | 'silent'> {
  const next = Promise.resolve(chunks.next());
  let cancelTimer = () => {};
  const silence = new Promise<'silent'>((resolve) => {
    cancelTimer = clock.after(ms, () => resolve('silent'));
  });
  // After the silence, nothing else handles a failure of the connection.
  next.catch(() => {});
  return Promise.race([next, silence]).finally(() => cancelTimer());
}

/** Feeds the bytes of a stream to its events. */
class StreamParser {
  readonly #onText: ((text: string) => void) | undefined;
  readonly #parser: EventSourceParser;
  readonly #decoder = new StringDecoder();
  #isTooLarge = false;
  #hasEvents = false;
  #hasBegun = false;
  /** The text until an event comes, which is a body of another kind if none comes. */
  #beginning = '';

  constructor(events: ResponseEvents, onText: ((text: string) => void) | undefined) {
    this.#onText = onText;
    this.#parser = createParser({
      onEvent: ({ event, data }) => {
        this.#hasEvents = true;
        events.take(event, data);
      },
      onError: ({ type }) => {
        this.#isTooLarge ||= type === 'max-buffer-size-exceeded';
      },
      maxBufferSize: MAX_LENGTH,
    });
  }

  /** The text of a body that is no stream of events, such as a page of a proxy. */
  get strangeText(): string {
    const lines = this.#beginning.split('\n').filter((line) => !FIELD.test(line));
    return this.#hasEvents ? '' : lines.join('\n').trim();
  }

  take(bytes: Uint8Array): void {
    const text = this.#decoder.write(bytes);
    this.#feed(this.#hasBegun ? text : text.replace(/^\uFEFF/, ''));
    this.#hasBegun ||= text !== '';
  }

  end(): void {
    this.#feed(`${this.#decoder.end()}\n\n`);
  }

  #feed(text: string): void {
    this.#onText?.(text);
    if (!this.#hasEvents && this.#beginning.length < MAX_LENGTH) this.#beginning += text;
    this.#parser.feed(text);
    if (this.#isTooLarge) throw new RefusedResponse(TOO_LARGE);
  }
}
