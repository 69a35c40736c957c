import type { ServerResponse } from 'node:http';
import { redactedJson } from '../../../domain/redaction.ts';
import type { Era } from '../mcp/era.ts';
import {
  errorMessage,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  type OutgoingMessage,
  type RequestId,
} from '../mcp/json-rpc.ts';
import type { Exchange } from './exchange.ts';
import type { HttpContext } from './http-context.ts';
import { type Refusal, tooManyUnread } from './refusal.ts';

/** Proxies and clients close a connection that is silent for about a minute. */
const STREAM_AFTER_MS = 10_000;
const KEEP_ALIVE_MS = 15_000;

/** The response to a POST: JSON, or server-sent events once there is progress to report or the answer takes long. */
export class PostResponse {
  readonly #exchange: Exchange;
  readonly #response: ServerResponse;
  readonly #era: Era;
  readonly #context: Pick<HttpContext, 'clock' | 'redactor'>;
  readonly #accepts: { readonly json: boolean; readonly stream: boolean };
  #isStream = false;
  #isEnded = false;
  #cancelTimer = () => {};

  constructor(exchange: Exchange, era: Era, context: Pick<HttpContext, 'clock' | 'redactor'>) {
    const { request, response } = exchange;
    this.#exchange = exchange;
    this.#response = response;
    this.#era = era;
    this.#context = context;
    this.#accepts = parseAccept(request.headers.accept);
    response.once('close', () => this.#end());
    if (this.#accepts.stream) this.#cancelTimer = context.clock.after(STREAM_AFTER_MS, () => this.#openStream());
  }

  /** Sends a message of the session. The first that is not a notification is the last; later ones are dropped. */
  send(message: OutgoingMessage): void {
    if (this.#isEnded || this.#response.writableEnded) return;
    const json = redactedJson(message, this.#context.redactor.anywhere);
    const event = toEvent(json);
    if ('method' in message) {
      if (this.#accepts.stream) this.#openStream();
      if (this.#isStream) this.#writeIfRead(event);
      return;
    }
    this.#end();
    const status = statusOf(message, this.#era);
    // A stream always has the status 200.
    const isJson = this.#accepts.json || !this.#accepts.stream || status !== 200;
    if (isJson && !this.#isStream) {
      this.#exchange.sendJson(status, json);
    } else if (this.#exchange.admits(Buffer.byteLength(event))) {
      this.#openStream();
      this.#response.end(event);
    } else if (this.#isStream) {
      this.#response.end(toEvent(JSON.stringify(toRefusalMessage(tooManyUnread(), message.id))));
    }
  }

  #end(): void {
    this.#isEnded = true;
    this.#cancelTimer();
  }

  /** Writes the headers at once, unless the stream is open, and a comment every 15 seconds until the end. */
  #openStream(): void {
    if (this.#isStream) return;
    this.#isStream = true;
    this.#response.writeHead(200, {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-cache, no-transform',
      // nginx would buffer the events.
      'X-Accel-Buffering': 'no',
    });
    this.#response.flushHeaders();
    if (!this.#isEnded) this.#keepAlive();
  }

  #keepAlive(): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#context.clock.after(KEEP_ALIVE_MS, () => {
      this.#writeIfRead(': keepalive\n\n');
      this.#keepAlive();
    });
  }

  /** Drops the text while the client reads too slowly, so that memory stays bounded. */
  #writeIfRead(text: string): void {
    if (!this.#response.writableNeedDrain) this.#response.write(text);
  }
}

/** The form of a refusal over MCP. */
export function toRefusalMessage({ message, details, jsonRpcCode }: Refusal, id: RequestId | undefined) {
  const error = { code: jsonRpcCode ?? INVALID_REQUEST, message, ...(details && { data: details }) };
  return errorMessage(id, error);
}

/** JSON contains no line breaks, so that an event is one line of data. */
function toEvent(json: string): string {
  return `event: message\ndata: ${json}\n\n`;
}

/** Errors of tools are responses like any other; errors that the protocol defines have a status. */
function statusOf(message: OutgoingMessage, era: Era): number {
  if (era === 'legacy' || !('error' in message)) return 200;
  const { code } = message.error;
  if (code === METHOD_NOT_FOUND) return 404;
  // Codes of MCP 2026-07-28: header mismatch, missing capability, unsupported version.
  return code <= -32020 && code >= -32022 ? 400 : 200;
}

/** Every client accepts JSON; a stream must be requested. */
function parseAccept(accept = 'application/json'): { readonly json: boolean; readonly stream: boolean } {
  const types = accept
    .toLowerCase()
    .split(',')
    .filter((range) => !/;\s*q=0(?:\.0*)?\s*(?:;|$)/.test(range))
    .map((range) => range.split(';')[0]?.trim());
  const includes = (...names: readonly string[]) => types.some((type) => type !== undefined && names.includes(type));
  return {
    json: includes('application/json', 'application/*', '*/*'),
    stream: includes('text/event-stream', 'text/*', '*/*'),
  };
}
