import type { ToolCallReport } from '../../../application/call-tool.ts';
import { clip, withoutUnsafeCharacters } from '../../../domain/clean-text.ts';
import type { CallReport } from '../mcp/call-meter.ts';
import type { RequestId } from '../mcp/json-rpc.ts';

/** What is known about a request; completed while it is served. */
export interface AccessEntry {
  /** The HTTP method. */
  readonly verb: string;
  caller?: string;
  /** Each frees what the request uses of a limit of its caller. Not logged. */
  readonly held: (() => void)[];
  /** Ends a response that has begun, because the process is about to exit. Not logged. */
  onShutDown?: () => void;
  /** Whether the drain ended before the request did. */
  isShutDown?: true;
  /** The ID of the JSON-RPC message. Not logged. */
  id?: RequestId;
  /** The JSON-RPC method. */
  method?: string;
  traceparent?: string | undefined;
  /** Of a request that is rejected, or has no method of JSON-RPC. */
  path?: string;
  /** Of a rejected request: one of a fixed set of reasons. */
  reason?: string;
  call?: CallReport;
  /** A call of a tool of the gateway's servers. */
  gatewayCall?: ToolCallReport;
}

/** As in nginx: the client closed the connection before the response. */
export const CLIENT_CLOSED = 499;

/** One line of JSON per request, for log collectors. It contains no text that a person wrote. */
export function toAccessLine(entry: AccessEntry, status: number, time: Date, ms: number): string {
  const { verb, caller, method, traceparent, call, gatewayCall, path, reason, isShutDown } = entry;
  return `${JSON.stringify({
    time: time.toISOString(),
    caller,
    verb,
    method,
    server: gatewayCall?.server || undefined,
    tool: call?.tool ?? (gatewayCall && loggableTool(gatewayCall.tool)),
    status,
    path: path === undefined ? undefined : loggablePath(path),
    reason,
    outcome:
      (isShutDown && 'shutting_down') ??
      call?.outcome ??
      gatewayCall?.outcome ??
      (status < 400 ? 'served' : status === CLIENT_CLOSED ? 'cancelled' : 'refused'),
    ms: Math.round(ms),
    searches: call?.searches,
    traceparent,
  })}\n`;
}

/** The reasons of rejections in the log, by status. */
export const REASONS: Readonly<Record<number, string>> = {
  400: 'malformed message',
  401: 'no valid token',
  403: 'not allowed',
  404: 'no such path',
  405: 'method not allowed',
  413: 'body too large',
  415: 'content type not accepted',
  429: 'too many calls in flight',
  503: 'shutting down',
};

const MAX_PATH = 100;
const MAX_TOOL = 100;

/** The name of a tool is text of its server. */
function loggableTool(name: string): string | undefined {
  return clip(withoutUnsafeCharacters(name), MAX_TOOL) || undefined;
}

/** A path may contain any text: only usual characters are logged. */
function loggablePath(path: string): string {
  return path.replace(/[^\w./~-]/g, '?').slice(0, MAX_PATH);
}

/** The name of a method, safe to log: a client can send any text, even a question. */
export function loggableMethod(method: string): string {
  return KNOWN_METHODS.test(method) ? method : 'other';
}

const KNOWN_METHODS =
  /^(?:initialize|ping|server\/discover|tools\/(?:call|list)|notifications\/(?:cancelled|initialized))$/;

/** The first valid W3C `traceparent` of the candidates. */
export function readTraceparent(...candidates: readonly unknown[]): string | undefined {
  return candidates.filter((candidate) => typeof candidate === 'string').find((text) => TRACEPARENT.test(text));
}

const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/;
