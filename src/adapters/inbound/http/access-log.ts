import type { ToolCallReport } from '../../../application/call-tool.ts';
import type { CallReport } from '../mcp/call-meter.ts';

/** What is known about a request; completed while it is served. */
export interface AccessEntry {
  /** The HTTP method. */
  readonly verb: string;
  caller?: string;
  /** The JSON-RPC method. */
  method?: string;
  traceparent?: string | undefined;
  call?: CallReport;
  /** A call of a tool of the gateway's servers. */
  gatewayCall?: ToolCallReport;
}

/** As in nginx: the client closed the connection before the response. */
export const CLIENT_CLOSED = 499;

/** One line of JSON per request, for log collectors. It contains no text that a person wrote. */
export function toAccessLine(entry: AccessEntry, status: number, time: Date, ms: number): string {
  const { verb, caller, method, traceparent, call, gatewayCall } = entry;
  return `${JSON.stringify({
    time: time.toISOString(),
    caller,
    verb,
    method,
    server: gatewayCall?.server || undefined,
    tool: call?.tool ?? (gatewayCall?.tool || undefined),
    status,
    outcome:
      call?.outcome ??
      gatewayCall?.outcome ??
      (status < 400 ? 'served' : status === CLIENT_CLOSED ? 'cancelled' : 'refused'),
    ms: Math.round(ms),
    searches: call?.searches,
    traceparent,
  })}\n`;
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
