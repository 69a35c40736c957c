import { never } from '../../../../application/async/deadline.ts';
import type { Clock } from '../../../../application/ports/clock.ts';
import { clip, withoutUnsafeCharacters } from '../../../../domain/values/clean-text.ts';
import type { AccessEntry } from '../shared/exchange.ts';
import { CLIENT_CLOSED } from '../shared/refusal.ts';

/** One line of JSON per request, for log collectors. It contains no text that a person wrote. */
export function toAccessLine(entry: AccessEntry, status: number, time: Date, ms: number): string {
  const { verb, caller, method, trace, call, path, reason, isShutDown } = entry;
  const served = status < 400 ? 'served' : status === CLIENT_CLOSED ? 'cancelled' : 'refused';
  return `${JSON.stringify({
    time: time.toISOString(),
    caller,
    verb,
    method: method === undefined || KNOWN_METHODS.test(method) ? method : 'other',
    server: call?.server || undefined,
    // The name of a tool is text of its server.
    tool: (call && clip(withoutUnsafeCharacters(call.tool), MAX_LENGTH)) || undefined,
    status,
    // A path may contain any text: only usual characters are logged.
    path: path?.replace(/[^\w./~-]/g, '?').slice(0, MAX_LENGTH),
    reason,
    outcome: isShutDown ? 'shutting_down' : (call?.outcome ?? served),
    ms: Math.round(ms),
    searches: call?.searches,
    traceparent: trace?.traceparent,
  })}\n`;
}

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

const MAX_LENGTH = 100;

/** A client can send any text as a method, even a question. */
const KNOWN_METHODS =
  /^(?:initialize|ping|server\/discover|tools\/(?:call|list)|resources\/(?:list|templates\/list|read)|prompts\/(?:list|get)|completion\/complete|tasks\/(?:get|update|cancel)|notifications\/(?:cancelled|initialized))$/;

/** How long a line may wait: too short to be noticed by a person who watches the log. */
const DELAY_MS = 20;
const MAX_UNREAD = 1024 * 1024;

interface LineStream {
  write(lines: string): unknown;
  readonly writableLength: number;
}

/**
 * Writes lines together, because a write for each request would take a tenth of the time of a short call. `flush` writes what was not written
 * yet. If no one reads the stream, lines are discarded, because memory would grow.
 */
export function lineWriter(clock: Clock, stream: LineStream) {
  let lines = '';
  const flush = () => {
    if (lines !== '' && stream.writableLength < MAX_UNREAD) stream.write(lines);
    lines = '';
  };
  const add = (line: string) => {
    if (lines === '') void clock.sleep(DELAY_MS, never()).then(flush);
    lines += line;
  };
  return { add, flush };
}
