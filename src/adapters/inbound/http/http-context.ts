import type { IncomingMessage as HttpRequest, ServerResponse } from 'node:http';
import type { Gateway } from '../../../application/gateway.ts';
import type { Clock } from '../../../application/ports/clock.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import type { TokenVerifier } from '../../../application/ports/token-verifier.ts';
import type { QuotaGuard } from '../../../application/quota-guard.ts';
import type { Redactor } from '../../../domain/redaction.ts';
import type { CallObserver } from '../mcp/call-meter.ts';
import type { ServerInfo } from '../mcp/era.ts';
import type { McpSessionOptions } from '../mcp/session.ts';
import type { ToolSet } from '../mcp/tool-set.ts';
import type { BuiltInServer } from '../rest/built-in-server.ts';
import type { AccessEntry } from './access-log.ts';
import type { CallerLimit } from './caller-limit.ts';
import type { Connections } from './connections.ts';
import type { Metrics } from './metrics.ts';

export interface HttpServerOptions {
  /** The host name or address on which the server listens. */
  readonly host: string;
  /** 0 is any free port. */
  readonly port: number;
  /** The path of the MCP endpoint. */
  readonly path: string;
  /** Callers and their tokens; without any and without `oauth`, no token is required. */
  readonly tokens: readonly { readonly caller: string; readonly token: string }[];
  /** Accepts the tokens of an authorization server too. */
  readonly oauth?: OAuthOptions | undefined;
  /** Host names other than those of this machine; `*` is any. */
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly drainMs: number;
  readonly maxBodyBytes: number;
  readonly maxConnections: number;
  readonly maxCallsPerToken: number;
  /** Undefined if nothing is limited per day. */
  readonly quota?: Pick<QuotaGuard, 'admit'> | undefined;
  /** Whether there is a key, or recordings to answer from. */
  readonly canAnswer: boolean;
  /** The tools of MCP. */
  readonly tools: ToolSet;
  readonly toolErrors?: McpSessionOptions['toolErrors'];
  readonly serverInfo: ServerInfo;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly redactor: Redactor;
  /** Writes one line of the access log. */
  readonly writeAccessLine: (line: string) => void;
  readonly rest: RestOptions;
  readonly timeouts?: HttpTimeouts;
}

/** What clients need to know to get a token, and what checks it. */
export interface OAuthOptions {
  readonly issuer: string;
  /** The URL that clients use for this server. */
  readonly resource: string;
  readonly scopes: readonly string[];
  readonly verifier: TokenVerifier;
}

/** What REST and the page serve. */
export interface RestOptions {
  /** Undefined while no servers are configured. */
  readonly gateway: () => Gateway | undefined;
  /** Resolves when the gateway, which is being loaded, can be used; undefined at other times. */
  readonly loading?: () => Promise<void> | undefined;
  readonly builtIn: BuiltInServer;
  /** Of this program. */
  readonly version: string;
  /** The folder with the files of the page; undefined if it is not served. */
  readonly pageFolder: string | undefined;
}

/**
 * How long a client may take to send the headers and a complete request, and to read a part of the response that is ready. A response may
 * take any time to become ready.
 */
export interface HttpTimeouts {
  readonly headersMs: number;
  readonly requestMs: number;
  readonly unreadMs: number;
  readonly checkEveryMs: number;
}

/** What the parts of the server share. */
export interface HttpContext extends HttpServerOptions {
  readonly metrics: Metrics;
  readonly isDraining: () => boolean;
  /** Calls, and lists over REST. */
  readonly places: CallerLimit;
  /** Bytes of request bodies. A value needs up to 21 times as much memory as its JSON. */
  readonly bodyBytes: CallerLimit;
  /** Bytes of responses, which stay in memory until they are read. */
  readonly responseBytes: CallerLimit;
  readonly connections: Connections;
  /** Observes a call of an answer tool, for the metrics and the access log. */
  readonly observe: (entry: AccessEntry) => CallObserver;
}

/** A request that passed the guard. */
export interface Exchange {
  readonly request: HttpRequest;
  readonly response: ServerResponse;
  readonly caller: string;
  readonly entry: AccessEntry;
}
