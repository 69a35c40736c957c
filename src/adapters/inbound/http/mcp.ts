import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { traceContextOf } from '../../../domain/gateway/call-origin.ts';
import type { QuotaState } from '../../../domain/values/quota.ts';
import {
  checkEnvelope,
  checkVersion,
  type Era,
  eraOf,
  META_PREFIX,
  MODERN_VERSION,
  requestedVersion,
} from '../mcp/era.ts';
import {
  type ErrorObject,
  INVALID_REQUEST,
  type IncomingMessage,
  metaOf,
  type OutgoingMessage,
  type RequestMessage,
  toMessage,
} from '../mcp/json-rpc.ts';
import { continuesCall } from '../mcp/retries.ts';
import { McpSession } from '../mcp/session.ts';
import { excerpt } from '../words/plain.ts';
import { REFUSALS, rateLimitHeaders, toQuotaJson } from '../words/refusal-messages.ts';
import { runCall } from './calls.ts';
import { refuse, toJsonRpcError } from './errors.ts';
import { readJsonBody } from './json-body.ts';
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
  const { tools, shared, logger, serverInfo, moreInstructions, toolErrors, openCalls } = services;
  const description = { tools, shared, serverInfo, moreInstructions, openCalls };
  const on = services.metrics.observe(log);
  const by = originOf(c, 'mcp');
  const session = new McpSession({ ...description, logger, toolErrors, by, on });
  c.set('onShutDown', () => session.shutDown());
  if (log.isShutDown || c.env.incoming.socket.destroyed) return;
  let response: OutgoingMessage | undefined;
  const send = (sent: OutgoingMessage) => {
    if ('method' in sent || log.isShutDown) reply.send(sent);
    else response = sent;
  };
  const run = (before?: QuotaState) => {
    if (before !== undefined) reply.addHeaders(rateLimitHeaders(before));
    return session.receive(message, era, send, c.get('left'));
  };
  const { method, params = {} } = message;
  const isCall = method === 'tools/call';
  // Such a request is a part of a call that has counted when it began.
  const isContinued = isCall && era === 'modern' && continuesCall(openCalls, { method, params, by });
  const isShared = shared?.has(method) === true;
  if (isCall || isShared) reply.streamLater();
  if (isContinued) log.hasBegun = true;
  if (isCall && !isContinued) {
    const called = await runCall(c, services, run);
    if (called.isErr()) return reply.refuse(called.error);
    const { left } = called.value;
    if (left !== undefined) reply.addHeaders(rateLimitHeaders(left));
    response = withQuota(response, left);
  } else if (isShared || isContinued) {
    const held = await services.places.hold(c, () => run());
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

const HEADER_MISMATCH = -32020;

/** Official clients continue to send the revision that they requested, although the response to `initialize` names 2025-06-18. */
const LEGACY_VERSIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];

/** The member of `params` that the header `Mcp-Name` repeats, by method. */
const NAMED: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};

/** The era of a message by its `_meta`, or else by the header `MCP-Protocol-Version`. */
function eraOfPost(headers: IncomingHttpHeaders, message: IncomingMessage): Era {
  const params = 'params' in message ? message.params : undefined;
  if (eraOf(params) === 'modern') return 'modern';
  // Without a version in `_meta`, `initialize` is legacy, whatever the header says.
  if (isInitialize(message)) return 'legacy';
  const version = headerOf(headers, 'mcp-protocol-version') ?? '';
  // Revisions are dates, which can be compared as strings.
  return /^\d{4}-\d{2}-\d{2}$/.test(version) && version >= MODERN_VERSION ? 'modern' : 'legacy';
}

/** The error for headers that the era of a message does not allow; undefined if they are valid. */
function checkHeaders(headers: IncomingHttpHeaders, message: IncomingMessage, era: Era): ErrorObject | undefined {
  if (era === 'modern') return checkModernHeaders(headers, message);
  // 2025-06-18, Protocol Version Header. `initialize` precedes the choice of a version.
  const version = headerOf(headers, 'mcp-protocol-version');
  if (isInitialize(message) || version === undefined || LEGACY_VERSIONS.includes(version)) return undefined;
  return { code: INVALID_REQUEST, message: REFUSALS.versions([...LEGACY_VERSIONS, MODERN_VERSION]) };
}

/** 2026-07-28, Streamable HTTP: headers must match the body. The checks have the order of the official SDK. */
function checkModernHeaders(headers: IncomingHttpHeaders, message: IncomingMessage): ErrorObject | undefined {
  if (message.kind !== 'request') return undefined;
  const { method, params } = message;
  const requested = requestedVersion(params);
  const version = headerOf(headers, 'mcp-protocol-version');
  const mismatch = checkHeader('MCP-Protocol-Version', version, requested);
  const error =
    checkEnvelope(params) ??
    (version === undefined ? undefined : mismatch) ??
    checkVersion(requested) ??
    mismatch ??
    checkHeader('Mcp-Method', headerOf(headers, 'mcp-method'), method);
  const name = NAMED[method];
  const expected = name === undefined ? undefined : params?.[name];
  if (error !== undefined || typeof expected !== 'string') return error;
  const sent = headerOf(headers, 'mcp-name');
  return checkHeader('Mcp-Name', sent, expected, sent !== undefined && decodeHeader(sent) === expected);
}

function checkHeader(name: string, sent: string | undefined, expected: unknown, matches = sent === expected) {
  if (matches) return undefined;
  const problem =
    sent === undefined ? 'is missing; the body has' : `value '${excerpt(sent)}' does not match body value`;
  return { code: HEADER_MISMATCH, message: REFUSALS.header(name, problem, excerpt(String(expected))) };
}

/** Decodes `=?base64?...?=`, the form of values that a header cannot contain; undefined if it is not base64 of UTF-8. */
export function decodeHeader(value: string): string | undefined {
  const [, encoded] = /^=\?base64\?(.*)\?=$/.exec(value) ?? [];
  if (encoded === undefined) return value;
  // Buffer ignores characters that are not base64, so alphabet and padding are checked first.
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(encoded)) return undefined;
  const bytes = Buffer.from(encoded, 'base64');
  return isUtf8(bytes) ? bytes.toString() : undefined;
}

function isInitialize(message: IncomingMessage): boolean {
  return 'method' in message && message.method === 'initialize';
}

/** Node.js joins repeated headers with a comma, so that a header sent twice matches nothing. */
function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  return headers[name]?.toString();
}
