import { isObject } from '../../../domain/json.ts';
import type { Era } from '../mcp/era.ts';
import {
  INVALID_REQUEST,
  type OutgoingMessage,
  type RequestId,
  type RequestMessage,
  toMessage,
} from '../mcp/json-rpc.ts';
import { withQuota } from '../mcp/quota-meta.ts';
import { loggableMethod, readTraceparent } from './access-log.ts';
import type { Exchange, HttpContext } from './http-context.ts';
import { PostResponse } from './post-response.ts';
import { checkHeaders, eraOfPost } from './protocol-headers.ts';
import { type Refusal, sendEmpty, sendRefusal, shuttingDown } from './refusal.ts';
import { readJsonBody } from './request-body.ts';
import { type CallRefusal, retryAfter, runCall } from './run-call.ts';

/**
 * Serves one message per POST, in either era. Every request has its own session: no state is kept between requests, and the
 * IDs of different clients are separate. A posted `notifications/cancelled` therefore cancels nothing. A client cancels by
 * closing the connection, after which nothing could read the response.
 */
export class McpEndpoint {
  readonly #context: HttpContext;
  #sessions = 0;

  constructor(context: HttpContext) {
    this.#context = context;
  }

  /** Resolves when the complete response was passed to `response`. The protocol defines the order of the checks. */
  async post(exchange: Exchange): Promise<void> {
    const { request, response, entry } = exchange;
    const { headers } = request;
    const { maxBodyBytes, isDraining } = this.#context;
    if (isDraining()) return sendRefusal(response, shuttingDown());
    const body = await readJsonBody(request, maxBodyBytes);
    if (response.destroyed) return;
    if (body.isErr()) return sendRefusal(response, body.error);
    // The drain may have started while the body was received.
    if (isDraining()) return sendRefusal(response, shuttingDown());

    const message = toMessage(body.value);
    if (message.kind === 'invalid') return sendRefusal(response, { status: 400, ...message });
    const meta = 'params' in message ? message.params?._meta : undefined;
    if ('method' in message) entry.method = loggableMethod(message.method);
    entry.traceparent = readTraceparent(isObject(meta) ? meta.traceparent : undefined, headers.traceparent);

    const era = eraOfPost(headers, message);
    const refused = checkHeaders(headers, message, era);
    if (refused !== undefined) return sendRefusal(response, refused);
    if (message.kind !== 'request') return sendEmpty(response, 202);
    if (message.method === 'tools/call') await this.#callTool(message, era, exchange);
    else await this.#respond(message, era, exchange);
  }

  /** The response waits until it is known what is left of the quota. */
  async #callTool(message: RequestMessage, era: Era, exchange: Exchange): Promise<void> {
    const ran = await runCall(exchange, this.#context, async () => {
      const postResponse = new PostResponse(exchange, era, this.#context);
      const responses: OutgoingMessage[] = [];
      await this.#openSession(exchange).receive(message, era, (sent) => {
        if ('method' in sent) postResponse.send(sent);
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
    const { openSession, observe } = this.#context;
    this.#sessions += 1;
    const session = openSession({ sessionKey: `http/${this.#sessions}`, caller, observer: observe(entry) });
    response.once('close', () => {
      if (!response.writableFinished) session.close();
    });
    return session;
  }
}

function toRefusal({ status, message, details: data, retryAfterMs }: CallRefusal, id: RequestId): Refusal {
  const headers = { 'Retry-After': retryAfter(retryAfterMs) };
  return { status, error: { code: INVALID_REQUEST, message, ...(data && { data }) }, id, headers };
}
