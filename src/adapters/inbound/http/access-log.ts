import type { Clock } from '../../../application/ports/clock.ts';
import type { CallReport } from './call-watch.ts';

/** What is known of a request; filled in while it is served. */
export interface AccessEntry {
  readonly verb: string;
  caller?: string;
  /** The JSON-RPC method. */
  method?: string;
  traceparent?: string;
  call?: CallReport;
}

/** As nginx says it: the client left before it was answered. */
export const CLIENT_LEFT = 499;

/** One line of JSON a request, for machines that collect logs. It holds nothing that a person wrote. */
export class AccessLog {
  readonly #clock: Clock;
  readonly #write: (line: string) => void;

  constructor(clock: Clock, write: (line: string) => void) {
    this.#clock = clock;
    this.#write = write;
  }

  /** `startedMs` on the clock's `elapsedMs` scale. */
  write({ verb, caller, method, traceparent, call }: AccessEntry, status: number, startedMs: number): void {
    const line = {
      time: this.#clock.now().toISOString(),
      caller,
      verb,
      method,
      tool: call?.tool,
      status,
      outcome: call?.outcome ?? (status < 400 ? 'served' : status === CLIENT_LEFT ? 'cancelled' : 'refused'),
      ms: Math.round(this.#clock.elapsedMs() - startedMs),
      searches: call?.searches,
      traceparent,
    };
    this.#write(`${JSON.stringify(line)}\n`);
  }
}

/** A method's name as it may stand in a log: a client can put anything there, a question too. */
export function loggableMethod(method: string): string {
  return KNOWN_METHODS.includes(method) ? method : 'other';
}

/** W3C Trace Context, from the header or `_meta`; anything else is dropped. */
export function readTraceparent(...candidates: readonly unknown[]): { readonly traceparent?: string } {
  for (const value of candidates) {
    if (
      typeof value === 'string' &&
      /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/.test(value)
    ) {
      return { traceparent: value };
    }
  }
  return {};
}

const KNOWN_METHODS = [
  'initialize',
  'notifications/cancelled',
  'notifications/initialized',
  'ping',
  'server/discover',
  'tools/call',
  'tools/list',
];
