import type { IncomingMessage as HttpRequest, ServerResponse } from 'node:http';
import type { Application } from '../../../application/application.ts';
import type { Clock } from '../../../application/ports/clock.ts';
import { INVALID_REQUEST, isParams, readMessage } from '../mcp/json-rpc.ts';
import type { Send } from '../mcp/mcp-session.ts';
import { type AccessEntry, loggableMethod, readTraceparent } from './access-log.ts';
import { CallLimit } from './call-limit.ts';
import { type CallWatcher, watchCalls } from './call-watch.ts';
import { PostAnswer } from './post-answer.ts';
import { checkLegacyHeaders, checkModernHeaders, eraOfPost, type RequestMessage } from './protocol-headers.ts';
import { aboutToEnd, type Refusal, refusal, sendEmpty, sendRefusal } from './refusal.ts';
import { readJsonBody } from './request-body.ts';

/** One conversation in MCP, as far as an endpoint needs it. */
export interface Session {
  receive(value: unknown, send: Send): Promise<void>;
  /** Nobody reads the answer any more. */
  close(): void;
}

/** Begins a conversation for one request; what it asks goes to `application`. */
export type OpenSession = (request: {
  readonly application: Application;
  readonly sessionKey: string;
  readonly caller: string;
}) => Session;

export interface McpEndpointOptions {
  readonly openSession: OpenSession;
  readonly application: Application;
  readonly clock: Clock;
  readonly redact: (text: string) => string;
  readonly maxBodyBytes: number;
  readonly maxCallsPerToken: number;
  readonly watcher: CallWatcher;
  readonly isDraining: () => boolean;
}

/**
 * Takes one message a POST, in either era. Every request has a session of its own: nothing is kept between requests, and the
 * ids of different clients never meet, which also means that a posted `notifications/cancelled` finds nothing to cancel. A
 * client cancels by leaving; nobody could read the answer then.
 */
export class McpEndpoint {
  readonly #options: McpEndpointOptions;
  readonly #limit: CallLimit;
  #sessions = 0;

  constructor(options: McpEndpointOptions) {
    this.#options = options;
    this.#limit = new CallLimit(options.maxCallsPerToken);
  }

  /** Resolves when all that the message is owed has been handed to `response`. The order of checks is the protocol's. */
  async post(request: HttpRequest, response: ServerResponse, caller: string, entry: AccessEntry): Promise<void> {
    const { headers } = request;
    const body = await readJsonBody(request, this.#options.maxBodyBytes);
    if (response.destroyed) return;
    if (body.isErr()) return sendRefusal(response, body.error);
    // The drain may have begun while the body came.
    if (this.#options.isDraining()) return sendRefusal(response, aboutToEnd());

    const message = readMessage(body.value);
    if (message.kind === 'invalid') {
      const { id, reason } = message;
      const error = { code: INVALID_REQUEST, message: `Invalid Request: ${reason}` };
      return sendRefusal(response, { status: 400, error, ...(id === undefined ? {} : { id }) });
    }
    const meta = 'params' in message ? message.params?._meta : undefined;
    if ('method' in message) entry.method = loggableMethod(message.method);
    Object.assign(entry, readTraceparent(isParams(meta) ? meta.traceparent : undefined, headers.traceparent));

    const era = eraOfPost(headers, message);
    if (message.kind !== 'request') {
      const unfit = era === 'legacy' ? checkLegacyHeaders(headers, message) : undefined;
      return unfit === undefined ? sendEmpty(response, 202) : sendRefusal(response, unfit);
    }
    const unfit = era === 'modern' ? checkModernHeaders(headers, message) : checkLegacyHeaders(headers, message);
    if (unfit !== undefined) return sendRefusal(response, unfit);

    const { clock, redact } = this.#options;
    const answer = new PostAnswer({ response, headers, era, clock, redact });
    if (message.method !== 'tools/call') return this.#serve(body.value, answer, response, caller, entry);
    if (!this.#limit.enter(caller)) return sendRefusal(response, this.#tooMany(message));
    try {
      void answer.keepWaiting();
      await this.#serve(body.value, answer, response, caller, entry);
    } finally {
      this.#limit.leave(caller);
    }
  }

  async #serve(
    value: unknown,
    answer: PostAnswer,
    response: ServerResponse,
    caller: string,
    entry: AccessEntry,
  ): Promise<void> {
    const { openSession, clock, watcher } = this.#options;
    const application = watchCalls(this.#options.application, clock, {
      began: () => watcher.began(),
      waits: (isWaiting) => watcher.waits(isWaiting),
      ended: (report) => {
        entry.call = report;
        watcher.ended(report);
      },
    });
    this.#sessions += 1;
    const session = openSession({ application, sessionKey: `http/${this.#sessions}`, caller });
    response.once('close', () => {
      if (!response.writableFinished) session.close();
    });
    await session.receive(value, (message) => answer.send(message));
  }

  #tooMany({ id }: RequestMessage): Refusal {
    const words = `Too many calls in flight: ${this.#options.maxCallsPerToken} a token. Ask again when one has ended.`;
    return { ...refusal(429, words, { 'Retry-After': '1' }), id };
  }
}
