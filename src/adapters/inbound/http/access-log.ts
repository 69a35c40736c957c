import { tokensOf } from '../../../application/tools/total-use.ts';
import { toUsd } from '../../../domain/answers/prices.ts';
import { LOCAL_CALLER } from '../../../domain/gateway/call-origin.ts';
import { clip, withoutUnsafeCharacters } from '../../../domain/values/clean-text.ts';
import type { JsonObject } from '../../../domain/values/json.ts';
import { count } from '../words/plain.ts';
import { CLIENT_CLOSED } from './refusal.ts';
import type { LogEntry } from './request.ts';

/** The entry of a request in the log, for collectors. It contains no text that a person wrote. */
export function toAccessEntry(entry: LogEntry, status: number, time: Date, ms: number): JsonObject {
  const { method, call } = entry;
  const served = status < 400 ? 'served' : status === CLIENT_CLOSED ? 'cancelled' : 'refused';
  return {
    time: time.toISOString(),
    caller: entry.caller,
    verb: entry.verb,
    method: method === undefined || KNOWN_METHODS.test(method) ? method : 'other',
    server: call?.server || undefined,
    // Servers choose the names of their tools, which may contain any text.
    tool: (call && clip(withoutUnsafeCharacters(call.tool), MAX_LENGTH)) || undefined,
    status,
    // A path may contain any text: only usual characters are logged.
    path:
      call === undefined && (served === 'refused' || method === undefined)
        ? entry.path.replace(/[^\w./~-]/g, '?').slice(0, MAX_LENGTH)
        : undefined,
    reason: entry.reason ?? (entry.isUnlisted ? NO_ENTRY : undefined),
    outcome: entry.isShutDown ? 'shutting_down' : (call?.outcome ?? served),
    ms: Math.round(ms),
    searches: call?.searches,
    tokens: call?.usage && tokensOf(call.usage),
    cost_usd: call?.microUsd === undefined ? undefined : toUsd(call.microUsd),
    traceparent: entry.trace?.traceparent,
  };
}

/** Whether a request shows nothing to a person: the page looks again and again, and nothing has changed since the last look. */
export function isRoutine({ isReadByPage }: LogEntry, status: number): boolean {
  return status === 304 || (isReadByPage === true && status < 400);
}

/** An entry in words, such as `POST tools/call memory/read_graph: 200 answered, 12 ms`. */
export function accessWords(entry: JsonObject): string {
  const { verb, method, path, server, tool, status, outcome, reason, ms, searches, tokens, caller } = entry;
  const called = [server, tool].filter(Boolean).join('/');
  const request = [verb, method, path, called].filter(Boolean).join(' ');
  const ending = [status, outcome === 'served' ? '' : outcome, reason && `(${reason})`].filter(Boolean).join(' ');
  const used = [searches && count(Number(searches), 'search', 'searches'), tokens && count(Number(tokens), 'token')];
  const by = caller === LOCAL_CALLER ? '' : caller;
  return `${request}: ${[ending, `${ms} ms`, ...used, by].filter(Boolean).join(', ')}`;
}

/** The logged reason why the lists of a caller are empty, although its requests are served. */
export const NO_ENTRY = 'no entry in access';

const MAX_LENGTH = 100;

/** A client can send any text as a method, even a question. */
const KNOWN_METHODS =
  /^(?:initialize|ping|server\/discover|tools\/(?:call|list)|resources\/(?:list|templates\/list|read)|prompts\/(?:list|get)|completion\/complete|notifications\/(?:cancelled|initialized))$/;
