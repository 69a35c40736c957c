import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { QuotaState } from '../../../application/quota/quota-guard.ts';
import { traceContextOf } from '../../../domain/gateway/trace-context.ts';
import { type Era, META_PREFIX } from '../mcp/era.ts';
import { metaOf, type OutgoingMessage, type RequestMessage, toMessage } from '../mcp/json-rpc.ts';
import { McpSession } from '../mcp/session.ts';
import { toQuotaJson } from '../words/quota-messages.ts';
import { runCall } from './calls.ts';
import { refuse, toJsonRpcError } from './errors.ts';
import { readJsonBody } from './json-body.ts';
import { checkHeaders, eraOfPost } from './mcp-headers.ts';
import { McpReply } from './mcp-reply.ts';
import { ofErrorObject } from './refusal.ts';
import { type HttpRequest, originOf } from './request.ts';
import type { Serving } from './services.ts';

/**
 * Serves the message of a POST, in either era. Every request has its own session: no state is kept between requests, and the
 * IDs of different clients are separate. A posted `notifications/cancelled` therefore cancels nothing. A client cancels by
 * closing the connection, after which nothing could read the response. The protocol defines the order of the checks.
 */
export async function postMessage(c: HttpRequest, services: Serving): Promise<Response> {
  const log = c.get('log');
  const { headers } = c.env.incoming;
  const body = await readJsonBody(c, services.maxBodyBytes);
  if (body.isErr()) return refuse(c, body.error);

  const message = toMessage(body.value);
  if ('id' in message) c.set('toErrorJson', (refusal) => toJsonRpcError(refusal, message.id));
  if (message.kind === 'invalid') return refuse(c, ofErrorObject('VALIDATION_ERROR', message.error));
  const meta = 'params' in message ? message.params?._meta : undefined;
  if ('method' in message) log.method = message.method;
  log.trace = traceContextOf(meta, headers);

  const era = eraOfPost(headers, message);
  const error = checkHeaders(headers, message, era);
  if (error !== undefined) return refuse(c, ofErrorObject('VALIDATION_ERROR', error));
  if (message.kind !== 'request') return c.body(null, 202, { 'Content-Length': '0' });
  return new Promise((resolve, reject) => {
    const reply = new McpReply(c, era, services, resolve);
    // If the client has left, `reply` sends nothing.
    const none = () => resolve(RESPONSE_ALREADY_SENT);
    const responded = respond(c, { message, era }, reply, services).finally(() => reply.end());
    c.set('work', responded.then(none, reject));
  });
}

/** Responds to a request. The response to a call waits until the remaining quota is known. */
async function respond(
  c: HttpRequest,
  { message, era }: { readonly message: RequestMessage; readonly era: Era },
  reply: McpReply,
  services: Serving,
): Promise<void> {
  const log = c.get('log');
  const { tools, shared, logger, serverInfo, moreInstructions, toolErrors } = services;
  const description = { tools, shared, serverInfo, moreInstructions };
  const on = services.metrics.observe(log);
  const session = new McpSession({ ...description, logger, toolErrors, by: originOf(c, 'mcp'), on });
  c.set('onShutDown', () => session.shutDown());
  if (log.isShutDown || c.env.incoming.socket.destroyed) return;
  let response: OutgoingMessage | undefined;
  const send = (sent: OutgoingMessage) => {
    if ('method' in sent || log.isShutDown) reply.send(sent);
    else response = sent;
  };
  const run = () => session.receive(message, era, send, c.get('left'));
  const isCall = message.method === 'tools/call';
  const isShared = shared?.has(message.method) === true;
  if (isCall || isShared) reply.streamLater();
  if (isCall) {
    const called = await runCall(c, services, run);
    if (called.isErr()) return reply.refuse(called.error);
    response = withQuota(response, called.value.left);
  } else if (isShared) {
    const held = await services.places.hold(c, run);
    if (held.isErr()) return reply.refuse(held.error);
  } else await run();
  if (response !== undefined) reply.send(response);
}

/** Adds the remaining quota of the caller to a result, if there is a quota. */
function withQuota(message: OutgoingMessage | undefined, left: QuotaState | undefined): OutgoingMessage | undefined {
  if (left === undefined || message === undefined || !('result' in message)) return message;
  const { result } = message;
  const _meta = { ...metaOf(result), [`${META_PREFIX}quota`]: toQuotaJson(left) };
  return { ...message, result: { ...result, _meta } };
}
