import { parseAccept } from 'hono/utils/accept';
import type { Services } from '../../../application/ports/services.ts';
import { type Redactor, redactedJson } from '../../../domain/values/redaction.ts';
import type { Era } from '../mcp/era.ts';
import { METHOD_NOT_FOUND, type OutgoingMessage } from '../mcp/json-rpc.ts';
import { answerJson, refuse } from './errors.ts';
import type { Refusal } from './refusal.ts';
import type { HttpRequest } from './request.ts';

/** Proxies and clients close a connection that is silent for about a minute. */
const STREAM_AFTER_MS = 10_000;
const KEEP_ALIVE_MS = 15_000;

/** Maximum number of bytes of a stream that wait for a client that reads slowly. */
const MAX_WAITING_BYTES = 16 * 1024;

const STREAM_HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache, no-transform',
  // Prevents nginx from buffering the events.
  'X-Accel-Buffering': 'no',
};

/** The response to a POST: JSON, or server-sent events once there is progress to report or the answer takes long. */
export class McpReply {
  readonly #c: HttpRequest;
  readonly #era: Era;
  readonly #options: Pick<Services, 'clock' | 'redactor'>;
  readonly #accepts: Accepted;
  readonly #respond: (response: Response) => void;
  #stream: ReadableStreamDefaultController<Uint8Array> | undefined;
  #isEnded = false;
  #cancelTimer = () => {};

  /** `respond` is called once, as soon as it is known whether the response is JSON or a stream. */
  #headers: Readonly<Record<string, string>> = {};

  constructor(
    c: HttpRequest,
    era: Era,
    options: Pick<Services, 'clock' | 'redactor'>,
    respond: (response: Response) => void,
  ) {
    this.#c = c;
    this.#era = era;
    this.#options = options;
    this.#accepts = acceptedBy(c.env.incoming.headers.accept);
    this.#respond = respond;
  }

  /** Lets a stream begin after a while. Only a call, or another request to a server, takes so long. */
  streamLater(): void {
    if (!this.#accepts.stream) return;
    this.#cancelTimer = this.#options.clock.after(STREAM_AFTER_MS, () => this.#openStream());
  }

  /** Adds headers to the response, unless a stream has begun. */
  addHeaders(headers: Readonly<Record<string, string>>): void {
    this.#headers = { ...this.#headers, ...headers };
  }

  /** Sends a message of the session. The first message that is not a notification ends the reply; later ones are dropped. */
  send(message: OutgoingMessage): void {
    if (this.#isEnded || this.#c.env.incoming.socket.destroyed) return;
    const json = jsonOf(message, this.#options.redactor.anywhere);
    if ('method' in message) {
      if (this.#accepts.stream) this.#openStream();
      this.#writeIfRead(toEvent(json));
      return;
    }
    const status = statusOf(message, this.#era);
    // A stream always has the status 200.
    const isJson = this.#accepts.json || !this.#accepts.stream || status !== 200;
    if (this.#stream === undefined && isJson) {
      this.end();
      if (status !== 200) this.#c.get('log').reason = status === 404 ? 'no such method' : 'malformed message';
      this.#respond(answerJson(this.#c, status, json, this.#headers));
    } else {
      this.#openStream();
      this.end();
      this.#stream?.enqueue(ENCODER.encode(toEvent(json)));
      this.#stream?.close();
    }
  }

  /** Refuses the request. Must be called before there is a stream. */
  refuse(refusal: Refusal): void {
    this.end();
    this.#respond(refuse(this.#c, refusal));
  }

  /** Must be called in any case, because the timer would open a stream, and keep it alive. */
  end(): void {
    this.#isEnded = true;
    this.#cancelTimer();
  }

  /** Opens the stream, unless it is open: sends the headers at once, and a comment every 15 seconds until the end. */
  #openStream(): void {
    if (this.#stream !== undefined) return;
    const stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#stream = controller;
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: MAX_WAITING_BYTES }),
    );
    this.#respond(this.#c.body(stream, 200, { ...STREAM_HEADERS, ...this.#headers }));
    this.#keepAlive();
  }

  #keepAlive(): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#options.clock.after(KEEP_ALIVE_MS, () => {
      this.#writeIfRead(': keepalive\n\n');
      this.#keepAlive();
    });
  }

  /** Drops the text while the client reads too slowly, so that memory stays bounded. */
  #writeIfRead(text: string): void {
    if ((this.#stream?.desiredSize ?? 0) > 0) this.#stream?.enqueue(ENCODER.encode(text));
  }
}

/** The texts of results that are sent more than once, such as a list that does not change. */
const TEXTS = new WeakMap<object, string>();

function jsonOf(message: OutgoingMessage, redact: Redactor['anywhere']): string {
  if (!('result' in message) || !Array.isArray(message.result.tools)) return redactedJson(message, redact);
  const { id, result } = message;
  const text = TEXTS.get(result) ?? JSON.stringify(result);
  TEXTS.set(result, text);
  // A key may have become known after the text was made.
  if (redact(text) !== text) return redactedJson(message, redact);
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${text}}`;
}

const ENCODER = new TextEncoder();

/** JSON contains no line breaks, so that an event is one line of data. */
function toEvent(json: string): string {
  return `event: message\ndata: ${json}\n\n`;
}

/** The HTTP status of a message. It is 200, also for errors of tools, except for errors to which the protocol gives a status. */
function statusOf(message: OutgoingMessage, era: Era): number {
  if (era === 'legacy' || !('error' in message)) return 200;
  const { code } = message.error;
  if (code === METHOD_NOT_FOUND) return 404;
  // Codes of MCP 2026-07-28: header mismatch, missing capability, unsupported version.
  return code <= -32020 && code >= -32022 ? 400 : 200;
}

interface Accepted {
  readonly json: boolean;
  readonly stream: boolean;
}

/** A client without the header `Accept` gets JSON; a stream must be requested. */
function acceptedBy(accept = 'application/json'): Accepted {
  const ranges = parseAccept(accept.toLowerCase()).filter(({ q }) => q > 0);
  const includes = (...names: readonly string[]) => ranges.some(({ type }) => names.includes(type));
  return {
    json: includes('application/json', 'application/*', '*/*'),
    stream: includes('text/event-stream', 'text/*', '*/*'),
  };
}
