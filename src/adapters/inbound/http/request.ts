import type { HttpBindings } from '@hono/node-server';
import type { Context, MiddlewareHandler } from 'hono';
import type { CallReport } from '../../../application/tools/tool-call.ts';
import type { CallOrigin, Door, Rights, Subject, TraceContext } from '../../../domain/gateway/call-origin.ts';
import type { Refusal } from './refusal.ts';

/** The facts about a request that handlers share. Each member is set by the middleware that its comment names. */
interface RequestVariables {
  /** The entry of the access log, which is completed while the request is served (`InFlight`). */
  log: LogEntry;
  /** Aborted when the client leaves before its response is complete, or the process is about to exit (`InFlight`). */
  left: AbortController;
  /** Resolves when the work for the request is done, which may outlive a response that is a stream (the handler). */
  work: Promise<unknown>;
  /** Called when the process is about to exit, to end a stream (the handler). */
  onShutDown: () => void;
  /** The body of a refusal, in the form of MCP or REST (`app.ts`). */
  toErrorJson: (refusal: Refusal) => string;
  /** The ID of a request over REST, and the headers of each JSON response; neither is set over MCP (`app.ts`). */
  requestId: string;
  headers: Readonly<Record<string, string>>;
  caller: string;
  subject: Subject | undefined;
  /** The rights of the caller when the request arrived (`guard.ts`). */
  rights: Rights;
}

export interface HttpEnv {
  Bindings: HttpBindings;
  Variables: RequestVariables;
}

export type HttpRequest = Context<HttpEnv>;
export type Middleware = MiddlewareHandler<HttpEnv>;

/** The facts that are logged about a request. */
export interface LogEntry {
  readonly verb: string;
  /** Whether the page reads a list or a file of its own. */
  readonly isReadByPage?: boolean;
  caller?: string;
  /** Whether `access` has no entry for the caller, whose lists are then empty. */
  isUnlisted?: boolean | undefined;
  /** Whether the drain ended before the request did. */
  isShutDown: boolean;
  /** Whether the call of a tool has begun, so that it may have effects. */
  hasBegun?: true;
  /** The JSON-RPC method. */
  method?: string;
  /** The trace context of the headers, unless the message has another. */
  trace?: TraceContext | undefined;
  readonly path: string;
  /** Why the request was refused: one of a fixed set of reasons. */
  reason?: string | undefined;
  /** The finished call. Its `server` is empty unless the tool is one of the gateway's servers. */
  call?: Omit<CallReport, 'seconds'>;
}

/** The origin of a call that this request makes. */
export function originOf(c: HttpRequest, door: Door): CallOrigin {
  const [rights, subject] = [c.get('rights'), c.get('subject')];
  return {
    caller: c.get('caller'),
    ...(subject && { subject }),
    door,
    rights,
    requestId: c.get('requestId'),
    trace: c.get('log').trace,
  };
}
