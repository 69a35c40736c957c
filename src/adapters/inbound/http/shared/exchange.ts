import type { IncomingMessage as HttpRequest, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { ToolCallReport } from '../../../../application/gateway/call-tool.ts';
import type { Clock } from '../../../../application/ports/clock.ts';
import type { SearchUse } from '../../../../application/ports/llm-search.ts';
import type { Logger } from '../../../../application/ports/logger.ts';
import type { TokenOwner } from '../../../../application/ports/token-verifier.ts';
import type { QuotaGuard } from '../../../../application/quota/quota-guard.ts';
import { type CallOrigin, type Door, NOTHING, type Rights } from '../../../../domain/gateway/call-origin.ts';
import { type TraceContext, traceContextOf } from '../../../../domain/gateway/trace-context.ts';
import type { Redactor } from '../../../../domain/values/redaction.ts';
import type { CallObserver, CallReport } from '../../mcp/call-meter.ts';
import type { RequestId } from '../../mcp/json-rpc.ts';
import { REFUSALS } from '../../words/refusal-messages.ts';
import type { CallerLimit } from './caller-limit.ts';
import { overloaded, type Refusal, shuttingDown } from './refusal.ts';

/** MCP or REST: which paths it serves, and the form of its errors. */
export interface Api {
  /** The HTTP methods that browsers may use. */
  readonly methods: string;
  headersFor?(request: HttpRequest): Readonly<Record<string, string>>;
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
  /** Calls, lists over REST, and requests about resources and prompts. */
  readonly places: CallerLimit;
  /** Bytes of request bodies. A value needs up to 21 times as much memory as its JSON. */
  readonly bodyBytes: CallerLimit;
  /** Undefined if nothing is limited per day. */
  readonly quota?: Pick<QuotaGuard, 'admit'> | undefined;
  readonly metrics: CallMetrics;
  /** What the owner of a token may use (ruling T2). */
  readonly rightsOf: (owner: TokenOwner) => Rights;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly redactor: Redactor;
}

/** Counts calls. */
export interface CallMetrics {
  /** Observes a call, of which the entry gets the outcome. */
  observe(entry: AccessEntry): Required<CallObserver>;
  /** `limit` is the name of a limit, or `unknown` if the store failed. */
  onQuotaRefused(limit: string): void;
}

export type Handler = (exchange: Exchange) => Promise<void> | void;

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
  /** That of the headers, unless the message has another. */
  trace?: TraceContext | undefined;
  /** The path of a request that is rejected, or has no method of JSON-RPC. */
  path?: string;
  /** Why the request is rejected: one of a fixed set of reasons. */
  reason?: string | undefined;
  /** The finished call; that of a tool of the gateway's servers has a server. */
  call?: SearchUse & Pick<CallReport | ToolCallReport, 'tool' | 'outcome'> & { readonly server?: string };
  /** Counts what a search used that has outlived the call. */
  onUsedLater?: (use: SearchUse) => void;
}

const nothing = () => {};
const noRights = () => NOTHING;

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
  /** Of the response, whatever it is. They are written at once: headers that are set one by one take longer. */
  readonly headers: Record<string, string> = {};
  readonly #api: Api;
  #findRights: () => Rights = noRights;
  #onDenied = nothing;
  #endResponse = nothing;

  constructor(request: HttpRequest, response: ServerResponse, api: Api, signal: AbortSignal) {
    this.request = request;
    this.response = response;
    this.entry = { verb: request.method ?? '', isShutDown: false, trace: traceContextOf(request.headers) };
    this.signal = signal;
    this.#api = api;
  }

  /** Who asks; empty until the token was checked. */
  get caller(): string {
    return this.entry.caller ?? '';
  }

  /** What the caller may use now: a reload during the request may change it. */
  get rights(): Rights {
    return this.#findRights();
  }

  /** Who calls a tool with this request. */
  originAt(door: Door): CallOrigin {
    const { caller, entry, headers } = this;
    // Only REST has this header.
    const requestId = headers['X-Request-Id'];
    return { caller, door, rights: this.#findRights, onDenied: this.#onDenied, requestId, trace: entry.trace };
  }

  /**
   * The token was checked: who asks, what looks up their rights, and what is called if these refuse a tool that exists. V8 expects a function
   * that is written in an assignment to a property to live long, and would keep the request in memory.
   */
  identify(caller: string, findRights: () => Rights, onDenied: () => void): void {
    this.entry.caller = caller;
    this.#findRights = findRights;
    this.#onDenied = onDenied;
  }

  /** Sets what ends a response that has begun, because the process is about to exit. */
  onShutDown(endResponse: () => void): void {
    this.#endResponse = endResponse;
  }

  shutDown(): void {
    if (this.response.destroyed) return;
    this.entry.isShutDown = true;
    this.refuse(shuttingDown());
    this.#endResponse();
  }

  /** Whether no response can be sent: the client has left, or a response was sent, such as that of the end of the drain. */
  get isOver(): boolean {
    return this.request.socket.destroyed || this.response.headersSent;
  }

  refuse(refusal: Refusal): void {
    const { status, headers, retryAfterMs, reason } = refusal;
    if (this.isOver) return;
    this.entry.reason ??= reason;
    const wait = retryAfterMs === undefined ? {} : { 'Retry-After': Math.max(1, Math.ceil(retryAfterMs / 1000)) };
    this.sendJson(status, this.#api.toRefusalJson(refusal, this), { ...wait, ...headers });
  }

  /** Sends a complete response, unless none can be sent. `json` is a JSON text. */
  sendJson(status: number, json: string | Buffer, headers?: OutgoingHttpHeaders): void {
    const length = Buffer.byteLength(json);
    if (this.isOver || !this.admits(length)) return;
    this.response
      .writeHead(status, { ...this.headers, 'Content-Type': 'application/json', 'Content-Length': length, ...headers })
      .end(json);
  }

  sendEmpty(status: number, headers: OutgoingHttpHeaders = {}): void {
    // RFC 9110: a 204 has no Content-Length.
    const length = status === 204 ? {} : { 'Content-Length': 0 };
    this.response.writeHead(status, { ...this.headers, ...length, ...headers }).end();
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
