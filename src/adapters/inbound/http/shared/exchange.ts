import type { IncomingMessage as HttpRequest, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { ToolCallReport } from '../../../../application/gateway/call-tool.ts';
import type { Clock } from '../../../../application/ports/clock.ts';
import type { SearchUse } from '../../../../application/ports/llm-search.ts';
import type { Logger } from '../../../../application/ports/logger.ts';
import type { QuotaGuard } from '../../../../application/quota/quota-guard.ts';
import type { Redactor } from '../../../../domain/values/redaction.ts';
import type { CallObserver, CallReport } from '../../mcp/call-meter.ts';
import type { RequestId } from '../../mcp/json-rpc.ts';
import { REFUSALS } from '../../words/refusal-messages.ts';
import type { CallerLimit } from './caller-limit.ts';
import { overloaded, type Refusal } from './refusal.ts';

/** MCP or REST: which paths it serves, and the form of its errors. */
export interface Api {
  /** The HTTP methods that browsers may use. */
  readonly methods: string;
  headersFor?(request: HttpRequest): Map<string, string>;
  routeOf(path: string): Route | undefined;
  /** The body of the response to a request that is not served. */
  toRefusalJson(refusal: Refusal, exchange: Exchange): string;
}

/** What MCP and REST share. */
export interface HttpContext {
  readonly path: string;
  /** Whether there is a key, or recordings to answer from. */
  readonly canAnswer: boolean;
  readonly requiresToken: boolean;
  readonly isDraining: () => boolean;
  readonly maxBodyBytes: number;
  /** Calls, and lists over REST. */
  readonly places: CallerLimit;
  /** Bytes of request bodies. A value needs up to 21 times as much memory as its JSON. */
  readonly bodyBytes: CallerLimit;
  /** Undefined if nothing is limited per day. */
  readonly quota?: Pick<QuotaGuard, 'admit'> | undefined;
  /** `limit` is the name of a limit, or `unknown` if the store failed. */
  readonly onQuotaRefused: (limit: string) => void;
  /** Observes a call, for the metrics and the access log. */
  readonly observe: (entry: AccessEntry) => Required<CallObserver>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly redactor: Redactor;
}

type Handler = (exchange: Exchange) => Promise<void> | void;

export interface Route {
  readonly methods: Readonly<Record<string, Handler>>;
  /** Handles the other methods, which are refused without it. */
  readonly otherMethods?: Handler;
}

/** What is logged about a request; completed while it is served. */
export interface AccessEntry {
  readonly verb: string;
  caller?: string;
  /** Whether the drain ended before the request did. */
  isShutDown: boolean;
  method?: string;
  traceparent?: string | undefined;
  /** The path of a request that is rejected, or has no method of JSON-RPC. */
  path?: string;
  /** Why the request is rejected: one of a fixed set of reasons. */
  reason?: string | undefined;
  /** The finished call; that of a tool of the gateway's servers has a server. */
  call?: SearchUse & {
    readonly server?: string;
    readonly tool: string;
    readonly outcome: CallReport['outcome'] | ToolCallReport['outcome'];
  };
  /** Counts what a search used that has outlived the call. */
  onUsedLater?: (use: SearchUse) => void;
}

/** A request, and its response. */
export class Exchange {
  readonly request: HttpRequest;
  readonly response: ServerResponse;
  readonly entry: AccessEntry;
  /** Aborts when the connection closes, also after a response was sent. */
  readonly signal: AbortSignal;
  /** The ID of the JSON-RPC message, which errors repeat. */
  id: RequestId | undefined;
  /** Each frees what the request uses of a limit of its caller. */
  readonly held: (() => void)[] = [];
  /** Limits the bytes of the response, which stay in memory until they are read. */
  responseBytes: CallerLimit | undefined;
  /** Ends a response that has begun, because the process is about to exit. */
  onShutDown: () => void = () => {};
  readonly #api: Api;

  constructor(request: HttpRequest, response: ServerResponse, api: Api, signal: AbortSignal) {
    this.request = request;
    this.response = response;
    this.entry = { verb: request.method ?? '', isShutDown: false };
    this.signal = signal;
    this.#api = api;
  }

  /** Who asks; empty until the token was checked. */
  get caller(): string {
    return this.entry.caller ?? '';
  }

  refuse(refusal: Refusal): void {
    const { status, headers, retryAfterMs } = refusal;
    const wait = retryAfterMs === undefined ? {} : { 'Retry-After': Math.max(1, Math.ceil(retryAfterMs / 1000)) };
    this.sendJson(status, this.#api.toRefusalJson(refusal, this), { ...wait, ...headers });
  }

  /** Sends a complete response, unless the request has one: that of the end of the drain. `json` is a JSON text. */
  sendJson(status: number, json: string | Buffer, headers?: OutgoingHttpHeaders): void {
    const length = Buffer.byteLength(json);
    if (this.response.headersSent || !this.admits(length)) return;
    this.response
      .writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': length, ...headers })
      .end(json);
  }

  sendEmpty(status: number, headers: OutgoingHttpHeaders = {}): void {
    // RFC 9110: a 204 has no Content-Length.
    this.response.writeHead(status, status === 204 ? headers : { 'Content-Length': 0, ...headers }).end();
  }

  /** Whether a response of so many bytes may be sent. If not, a refusal was sent instead, unless the response has begun. */
  admits(bytes: number): boolean {
    const limit = this.responseBytes;
    this.responseBytes = undefined;
    if (limit === undefined || limit.hold(this, bytes)) return true;
    this.refuse(overloaded(REFUSALS.responseBytes));
    return false;
  }
}
