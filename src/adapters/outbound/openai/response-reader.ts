import { createParser } from 'eventsource-parser';
import { err, ok, type Result } from 'neverthrow';
import type { Clock } from '../../../application/ports/clock.ts';
import { isObject, type JsonObject, parseJson } from '../../../domain/values/json.ts';
import { readBytes } from '../network/read-bytes.ts';
import { RefusedResponse } from './api-fetch.ts';
import { excerpt, type Failure, permanentFailure } from './failure.ts';
import type { ResponseEvents } from './response-events.ts';
import { toThrownFailure } from './thrown-failure.ts';

/** Maximum number of bytes of a body, and of characters of an event: far beyond any answer, but not too much for a small machine. */
const MAX_LENGTH = 16 * 1024 * 1024;
const TOO_LARGE = 'it is larger than 16 MiB';
/** How long the rest of a stream may take after its terminal event, so that the connection can be reused. */
const DRAIN_MS = 1000;

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
  open: () => Promise<Response>,
  reading: Reading,
): Promise<Result<JsonObject, Failure>> {
  try {
    return await read(await open(), reading);
  } catch (thrown) {
    return err(toThrownFailure(thrown, reading.events.context, reading.clock.now()));
  }
}

async function read(http: Response, reading: Reading): Promise<Result<JsonObject, Failure>> {
  const { headers, body: stream } = http;
  if (/^\s*text\/event-stream/i.test(headers.get('content-type') ?? '') && stream !== null)
    return readStream(stream, reading);

  const { bytes, isCut } = await readBytes(stream, MAX_LENGTH);
  if (isCut) throw new RefusedResponse(TOO_LARGE);
  const body = new TextDecoder().decode(bytes);
  const response = parseJson(body);
  if (!isObject(response) && /^(?:event|data|id|retry)?:/.test(body.trimStart()))
    return readStream(new Blob([body]).stream(), reading);
  reading.onText?.(body);
  if (isObject(response)) return ok(response);
  const detail = body.trim() === '' ? 'an empty body' : `not JSON: ${excerpt(body, reading.events.context)}`;
  return err(permanentFailure({ kind: 'unreadable_reply', detail }, detail, body));
}

async function readStream(
  stream: ReadableStream<Uint8Array>,
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
  const decoder = new TextDecoder();
  const reader = stream.getReader();
  while (events.outcome === undefined) {
    const { done, value } = await reader.read();
    const text = done ? `${decoder.decode()}\n\n` : decoder.decode(value, { stream: true });
    onText?.(text);
    parser.feed(text);
    if (isTooLarge) {
      await reader.cancel();
      throw new RefusedResponse(TOO_LARGE);
    }
    if (done) break;
  }
  void drain(reader);
  if (events.outcome === undefined) throw new Error('the stream ended too early');
  return events.outcome;
}

/** Reads a stream to its end, for a limited time, without delaying the reply. */
async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const giveUp = () => void reader.cancel().catch(() => {});
  const timer = setTimeout(giveUp, DRAIN_MS).unref();
  try {
    while (!(await reader.read()).done);
  } catch {
    // The connection broke after the complete response.
  }
  clearTimeout(timer);
}
