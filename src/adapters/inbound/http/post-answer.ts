import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Clock } from '../../../application/ports/clock.ts';
import type { Era } from '../mcp/era.ts';
import { METHOD_NOT_FOUND, type OutgoingMessage } from '../mcp/json-rpc.ts';
import { EventStream } from './event-stream.ts';
import { sendJson } from './refusal.ts';

/** Proxies and clients give up on a connection that is silent for about a minute; a stream may speak before it answers. */
const STREAM_AFTER_MS = 10_000;

export interface PostAnswerOptions {
  readonly response: ServerResponse;
  readonly headers: IncomingHttpHeaders;
  readonly era: Era;
  readonly clock: Clock;
  /** Takes known keys out of what is written (ruling 20). */
  readonly redact: (text: string) => string;
}

/**
 * The answer to one request: JSON, or an event stream as soon as there is something to tell before the answer (progress, which
 * is asked for and begins at once) or the answer is long in coming, if the client takes streams.
 */
export class PostAnswer {
  readonly #options: PostAnswerOptions;
  readonly #accepts: { readonly json: boolean; readonly stream: boolean };
  readonly #over = new AbortController();
  #stream: EventStream | undefined;

  constructor(options: PostAnswerOptions) {
    this.#options = options;
    this.#accepts = accepted(options.headers.accept);
    options.response.once('close', () => this.#end());
  }

  /** Opens a stream if the answer takes long. */
  async keepWaiting(): Promise<void> {
    if (!this.#accepts.stream) return;
    const waited = await this.#options.clock.sleep(STREAM_AFTER_MS, this.#over.signal);
    if (waited === 'elapsed') this.#open();
  }

  /** Sends what the session says; the message that is no notification is the last. Nothing is sent after it. */
  send(message: OutgoingMessage): void {
    if (this.#over.signal.aborted) return;
    const { response, redact, era } = this.#options;
    const json = redact(JSON.stringify(message));
    if ('method' in message) {
      if (this.#accepts.stream) this.#open().notify(json);
      return;
    }
    this.#end();
    const status = statusOf(message, era);
    // A stream has no status but 200.
    const isJson = this.#accepts.json || !this.#accepts.stream || status !== 200;
    if (this.#stream === undefined && isJson) {
      sendJson(response, status, json);
    } else {
      this.#open().end(json);
    }
  }

  /** With a reason, since Node.js would make an exception with its stack for one that lacks. */
  #end(): void {
    this.#over.abort('over');
  }

  #open(): EventStream {
    this.#stream ??= new EventStream(this.#options.response, this.#options.clock, this.#over.signal);
    return this.#stream;
  }
}

/** An error that a tool or a handler makes is an answer like any other; what the protocol itself defines has a status. */
function statusOf(message: OutgoingMessage, era: Era): number {
  if (era === 'legacy' || !('error' in message)) return 200;
  const { code } = message.error;
  if (code === METHOD_NOT_FOUND) return 404;
  // Codes of MCP 2026-07-28: header mismatch, missing capability, unsupported version.
  return code <= -32020 && code >= -32022 ? 400 : 200;
}

/** JSON is what everybody takes; a stream has to be asked for. */
function accepted(accept = 'application/json'): { readonly json: boolean; readonly stream: boolean } {
  const types = accept
    .toLowerCase()
    .split(',')
    .filter((range) => !/;\s*q=0(?:\.0*)?\s*(?:;|$)/.test(range))
    .map((range) => range.split(';')[0]?.trim());
  const takes = (...names: readonly string[]) => types.some((type) => type !== undefined && names.includes(type));
  return {
    json: takes('application/json', 'application/*', '*/*'),
    stream: takes('text/event-stream', 'text/*', '*/*'),
  };
}
