import type { RequestId } from '@modelcontextprotocol/client';
import { certificateProblem } from '../../../domain/values/certificate-problem.ts';
import { isObject, parseJson } from '../../../domain/values/json.ts';
import { MessageBytes, type OnExact, readEvent, readMessages, requestIdIn, tooLargeResponse } from './messages.ts';

type Bytes = TransformStream<Uint8Array, Uint8Array>;

/** Called for a request of the server that comes on the event stream of the request `streamOf`. */
type OnServerRequest = (id: RequestId, streamOf: RequestId) => void;

/** A response, or a message on an event stream, has more bytes than a server may send. */
export class ResponseTooLarge extends Error {
  override readonly message = 'a response that is too large';
}

interface MessageEvents {
  readonly onServerRequest?: OnServerRequest;
  readonly onExact?: OnExact;
}

/**
 * A `fetch` for the transports of the official client, which would read a message of any size, and refuse what MCP does not specify. A body that is
 * too large is not read to its end. An event that is too large is replaced by an error response to its request.
 */
export function messageFetch(
  fetch: typeof globalThis.fetch,
  maxBytes: number,
  on: MessageEvents = {},
): typeof globalThis.fetch {
  return async (url, init) => {
    const response = await fetch(url, init).catch(withCertificateProblem);
    const { body, headers } = response;
    if (body === null) return response;
    const requestId = requestIdOf(init?.body);
    const isStream = /^text\/event-stream\b/i.test(headers.get('content-type') ?? '');
    if (isStream) {
      const events = body.pipeThrough(lineFeeds()).pipeThrough(eventLimit(maxBytes, requestId, on));
      return new Response(events, response);
    }
    const limited = new Response(body.pipeThrough(bodyLimit(maxBytes)), response);
    if (requestId === undefined || !response.ok) return limited;
    const text = await limited.text();
    const read = readMessages(text, requestId, on.onExact, 'whole');
    return read === undefined ? new Response(text, response) : toJson(read.isAsWritten ? text : read.values, response);
  };
}

/** The response with these messages. JSON is read as JSON, whatever type the server gives it, also none. */
function toJson(read: string | readonly unknown[], { status, statusText, headers }: Response): Response {
  const all = new Headers(headers);
  all.set('content-type', 'application/json');
  const body = typeof read === 'string' ? read : JSON.stringify(read.length === 1 ? read[0] : read);
  return new Response(body, { status, statusText, headers: all });
}

/** Adds the problem with a certificate to the message of an error, because the SSE transport keeps nothing else of an error. */
function withCertificateProblem(error: Error): never {
  const problem = certificateProblem(error);
  throw problem === undefined ? error : new TypeError(`${error.message}: ${problem}`, { cause: error.cause });
}

/** The ID of the request in a body that was sent; undefined without one. */
function requestIdOf(body: unknown): RequestId | undefined {
  const message = typeof body === 'string' ? parseJson(body) : undefined;
  return isObject(message) && 'method' in message ? (message.id as RequestId | undefined) : undefined;
}

function bodyLimit(maxBytes: number): Bytes {
  let length = 0;
  return new TransformStream({
    transform(chunk, controller) {
      length += chunk.length;
      if (length > maxBytes) controller.error(new ResponseTooLarge());
      else controller.enqueue(chunk);
    },
  });
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Replaces the other ends of lines that event streams may have, a carriage return with or without a line feed. */
function lineFeeds(): Bytes {
  let endsWithReturn = false;
  return new TransformStream({
    transform(chunk, controller) {
      const bytes = endsWithReturn && chunk[0] === LINE_FEED ? chunk.subarray(1) : chunk;
      endsWithReturn = chunk.at(-1) === CARRIAGE_RETURN;
      if (!bytes.includes(CARRIAGE_RETURN)) return controller.enqueue(bytes);
      const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
      controller.enqueue(Buffer.from(text.replace(/\r\n?/g, '\n'), 'latin1'));
    },
  });
}

/** Size of the parts of an event beside its message, such as the names of its fields and its ID. */
const FIELD_BYTES = 1024;

/**
 * Passes on complete events. At an event that is too large, the stream of one request ends with an error response. On the stream for all messages
 * of a server, a response is replaced by an error response, any other message is left out, and the stream fails if the ID cannot be found.
 */
function eventLimit(maxBytes: number, requestId: RequestId | undefined, on: MessageEvents): Bytes {
  const event = new MessageBytes(maxBytes + FIELD_BYTES);
  /** The length in earlier chunks of a line that has not ended. */
  let lineLength = 0;

  const onEnd = (controller: TransformStreamDefaultController<Uint8Array>) => {
    const read = event.take();
    if (read instanceof Uint8Array) {
      const { bytes, messages } = readEvent(read, requestId, on.onExact);
      for (const id of requestId === undefined ? [] : messages.flatMap(idOfRequest))
        on.onServerRequest?.(id, requestId as RequestId);
      return controller.enqueue(bytes);
    }
    const id = requestIdIn(withoutFieldNames(read.start), withoutFieldNames(read.end));
    if (id === 'unknown') controller.error(new ResponseTooLarge());
    else if (id !== undefined) controller.enqueue(errorEvent(id, maxBytes));
  };
  return new TransformStream({
    transform(chunk, controller) {
      let eventStart = 0;
      let lineStart = 0;
      for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, lineStart)) {
        const isEmpty = lineLength + at === lineStart;
        lineStart = at + 1;
        lineLength = 0;
        if (!isEmpty) continue;
        event.add(chunk.subarray(eventStart, lineStart));
        eventStart = lineStart;
        onEnd(controller);
      }
      lineLength += chunk.length - lineStart;
      event.add(chunk.subarray(eventStart));
      if (requestId === undefined || !event.isTooLarge) return;
      controller.enqueue(errorEvent(requestId, maxBytes));
      controller.terminate();
    },
    flush(controller) {
      // The last event of a stream may lack its empty line.
      event.add(Buffer.from('\n\n'));
      onEnd(controller);
    },
  });
}

function withoutFieldNames(event: string): string {
  return event.replace(/^(?:data: ?|(?:event|id|retry):[^\n]*\n)/gm, '');
}

function idOfRequest(message: unknown): RequestId | [] {
  return isObject(message) && 'method' in message && 'id' in message ? (message.id as RequestId) : [];
}

function errorEvent(id: RequestId, maxBytes: number): Uint8Array {
  return Buffer.from(`data: ${JSON.stringify(tooLargeResponse(id, maxBytes))}\n\n`);
}
