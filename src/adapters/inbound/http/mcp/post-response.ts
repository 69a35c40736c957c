import { redactedJson } from '../../../../domain/values/redaction.ts';
import type { Era } from '../../mcp/era.ts';
import { errorMessage, INVALID_REQUEST, METHOD_NOT_FOUND, type OutgoingMessage } from '../../mcp/json-rpc.ts';
import { REFUSALS } from '../../words/refusal-messages.ts';
import type { Exchange, HttpContext } from '../shared/exchange.ts';
import { overloaded, type Refusal } from '../shared/refusal.ts';

/** Proxies and clients close a connection that is silent for about a minute. */
const STREAM_AFTER_MS = 10_000;
const KEEP_ALIVE_MS = 15_000;

/**
 * The response to a POST: JSON, or server-sent events once there is progress to report or the answer takes long. The returned function sends
 * a message of the session. The first that is not a notification is the last; later ones are dropped.
 */
export function openPostResponse(
  exchange: Exchange,
  era: Era,
  { clock, redactor }: Pick<HttpContext, 'clock' | 'redactor'>,
): (message: OutgoingMessage) => void {
  const { request, response } = exchange;
  const accepts = parseAccept(request.headers.accept);
  let isStream = false;
  let isEnded = false;
  const end = () => {
    isEnded = true;
    cancelTimer();
  };
  /** Drops the text while the client reads too slowly, so that memory stays bounded. */
  const writeIfRead = (text: string) => {
    if (!response.writableNeedDrain) response.write(text);
  };
  const keepAlive = () => {
    cancelTimer();
    cancelTimer = clock.after(KEEP_ALIVE_MS, () => {
      writeIfRead(': keepalive\n\n');
      keepAlive();
    });
  };
  /** Writes the headers at once, unless the stream is open, and a comment every 15 seconds until the end. */
  const openStream = () => {
    if (isStream) return;
    isStream = true;
    response.writeHead(200, {
      ...exchange.headers,
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-cache, no-transform',
      // nginx would buffer the events.
      'X-Accel-Buffering': 'no',
    });
    response.flushHeaders();
    if (!isEnded) keepAlive();
  };
  let cancelTimer = accepts.stream ? clock.after(STREAM_AFTER_MS, openStream) : () => {};
  response.once('close', end);

  return (message) => {
    if (isEnded || response.writableEnded) return;
    const json = redactedJson(message, redactor.anywhere);
    const event = toEvent(json);
    if ('method' in message) {
      if (accepts.stream) openStream();
      if (isStream) writeIfRead(event);
      return;
    }
    end();
    const status = statusOf(message, era);
    // A stream always has the status 200.
    const isJson = accepts.json || !accepts.stream || status !== 200;
    if (isJson && !isStream) {
      exchange.sendJson(status, json);
    } else if (exchange.admits(Buffer.byteLength(event))) {
      openStream();
      response.end(event);
    } else if (isStream) {
      response.end(toEvent(JSON.stringify(toRefusalMessage(overloaded(REFUSALS.responseBytes), message.id))));
    }
  };
}

/** The form of a refusal over MCP. */
export function toRefusalMessage({ message, details, jsonRpcCode }: Refusal, id: Exchange['id']) {
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
