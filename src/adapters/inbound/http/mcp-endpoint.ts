import { isObject } from '../../../domain/json.ts';
import type { Era } from '../mcp/era.ts';
import {
  INVALID_REQUEST,
  type OutgoingMessage,
  type RequestId,
  type RequestMessage,
  toMessage,
} from '../mcp/json-rpc.ts';
import { toKeptCall } from '../mcp/kept-call.ts';
import { withQuota } from '../mcp/quota-meta.ts';
import { McpSession } from '../mcp/session.ts';
import { loggableMethod, readTraceparent } from './access-log.ts';
import type { Exchange, HttpContext } from './http-context.ts';
import { PostResponse } from './post-response.ts';
import { checkHeaders, eraOfPost } from './protocol-headers.ts';
import { type Refusal, sendEmpty, sendRefusal, shuttingDown } from './refusal.ts';
import { readJsonBody } from './request-body.ts';
import { type CallRefusal, retryAfter, runCall } from './run-call.ts';

interface Received {
  readonly message: RequestMessage;
  readonly era: Era;
}

/**
 * Serves one message per POST, in either era. Every request has its own session: no state is kept between requests, and the
 * IDs of different clients are separate. A posted `notifications/cancelled` therefore cancels nothing. A client cancels by
 * closing the connection, after which nothing could read the response.
 */
export class McpEndpoint {
  readonly #context: HttpContext;

  constructor(context: HttpContext) {
    this.#context = context;
  }

  /** Resolves when the complete response was passed to `response`. */
  async post(exchange: Exchange): Promise<void> {
    const received = await this.#receive(exchange);
    const { response } = exchange;
    if (response.destroyed) return;
    if (received === undefined) return sendEmpty(response, 202);
    if ('status' in received) return sendRefusal(response, received);
    const { message, era } = received;
    if (message.method === 'tools/call') await this.#callTool(message, era, exchange);
    else await this.#respond(message, era, exchange);
  }

  /**
   * The request, a refusal, or undefined for a message that gets no answer. The protocol defines the order of the checks. Nothing else of
   * the body stays in memory while the request is served, because a suspended function keeps its variables.
   */
  async #receive(exchange: Exchange): Promise<Received | Refusal | undefined> {
    const { entry } = exchange;
    const { headers } = exchange.request;
    const { isDraining } = this.#context;
    if (isDraining()) return shuttingDown();
    const body = await readJsonBody(exchange, this.#context);
    if (body.isErr()) return body.error;
    // The drain may have started while the body was received.
    if (isDraining()) return shuttingDown();

    const message = toMessage(body.value);
    if (message.kind === 'invalid') return { status: 400, ...message };
    const meta = 'params' in message ? message.params?._meta : undefined;
    if ('method' in message) entry.method = loggableMethod(message.method);
    entry.traceparent = readTraceparent(isObject(meta) ? meta.traceparent : undefined, headers.traceparent);

    const era = eraOfPost(headers, message);
    const refused = checkHeaders(headers, message, era);
    if (refused !== undefined) return refused;
    if (message.kind !== 'request') return undefined;
    entry.id = message.id;
    return { message: message.method === 'tools/call' ? toKeptCall(message) : message, era };
  }

  /** The response waits until it is known what is left of the quota. */
  async #callTool(message: RequestMessage, era: Era, exchange: Exchange): Promise<void> {
    const ran = await runCall(exchange, this.#context, async () => {
      const postResponse = new PostResponse(exchange, era, this.#context);
      const responses: OutgoingMessage[] = [];
      await this.#openSession(exchange).receive(message, era, (sent) => {
        if ('method' in sent || exchange.entry.isShutDown) postResponse.send(sent);
        else responses.push(sent);
      });
      return { postResponse, responses };
    });
    if (ran.isErr()) return sendRefusal(exchange.response, toRefusal(ran.error, message.id));
    const { postResponse, responses } = ran.value.value;
    for (const response of responses) postResponse.send(withQuota(response, ran.value.left));
  }

  async #respond(message: RequestMessage, era: Era, exchange: Exchange): Promise<void> {
    const postResponse = new PostResponse(exchange, era, this.#context);
    await this.#openSession(exchange).receive(message, era, (message) => postResponse.send(message));
  }

  #openSession({ response, caller, entry }: Exchange) {
    const { tools, logger, toolErrors = 'protocol', serverInfo, observe } = this.#context;
    const session = new McpSession({ tools, logger, toolErrors, serverInfo, caller, observer: observe(entry) });
    response.once('close', () => session.close());
    entry.onShutDown = () => session.shutDown();
    return session;
  }
}

function toRefusal({ status, message, details: data, retryAfterMs }: CallRefusal, id: RequestId): Refusal {
  const headers = { 'Retry-After': retryAfter(retryAfterMs) };
  return { status, error: { code: INVALID_REQUEST, message, ...(data && { data }) }, id, headers };
}
