import { StringDecoder } from 'node:string_decoder';
import { createParser } from 'eventsource-parser';
import { err, ok, type Result } from 'neverthrow';
import type { Clock } from '../../../application/ports/services.ts';
import { isObject, type JsonObject, parseJson } from '../../../domain/values/json.ts';
import { type ApiResponse, MAX_LENGTH, RefusedResponse, TOO_LARGE, textOf } from './api-fetch.ts';
import { excerpt, type Failure, permanentFailure, toThrownFailure } from './failure.ts';
import type { ResponseEvents } from './response-events.ts';

interface Reading {
  readonly events: ResponseEvents;
  /** Receives the text of the body, in parts. */
  readonly onText?: ((text: string) => void) | undefined;
  readonly clock: Clock;
}

/**
 * Reads a response: an event stream, or a single JSON body from a server that does not stream. A stream that
 * ends without its terminal event is a broken connection, regardless of the text received so far.
 */
export async function readResponse(
  open: () => Promise<ApiResponse>,
  reading: Reading,
): Promise<Result<JsonObject, Failure>> {
  try {
    const { headers, body } = await open();
    if (/^\s*text\/event-stream/i.test(headers.get('content-type') ?? '') && body !== null)
      return await readStream(body, reading);
    const text = await textOf(body);
    const response = parseJson(text);
    if (!isObject(response) && /^(?:event|data|id|retry)?:/.test(text.trimStart()))
      return await readStream([Buffer.from(text)], reading);
    reading.onText?.(text);
    if (isObject(response)) return ok(response);
    const detail = text.trim() === '' ? 'an empty body' : `not JSON: ${excerpt(text, reading.events.context)}`;
    return err(permanentFailure({ kind: 'unreadable_reply', detail }, detail, text));
  } catch (thrown) {
    return err(toThrownFailure(thrown, reading.events.context, reading.clock.now()));
  }
}

/** Reads a stream until its terminal event. */
async function readStream(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  { events, onText }: Reading,
): Promise<Result<JsonObject, Failure>> {
  let isTooLarge = false;
  const parser = createParser({
    onEvent: ({ event, data }) => events.take(event, data),
    onError: ({ type }) => {
      isTooLarge ||= type === 'max-buffer-size-exceeded';
    },
    maxBufferSize: MAX_LENGTH,
  });
  const feed = (text: string) => {
    onText?.(text);
    parser.feed(text);
    if (isTooLarge) throw new RefusedResponse(TOO_LARGE);
  };
  const decoder = new StringDecoder();
  let hasBegun = false;
  for await (const bytes of body) {
    const text = decoder.write(bytes);
    feed(hasBegun ? text : text.replace(/^\uFEFF/, ''));
    hasBegun ||= text !== '';
    if (events.outcome !== undefined) return events.outcome;
  }
  feed(`${decoder.end()}\n\n`);
  if (events.outcome === undefined) throw new Error('the stream ended too early');
  return events.outcome;
}
