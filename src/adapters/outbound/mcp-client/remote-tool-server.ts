import {
  type Client,
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  SseError,
  StreamableHTTPClientTransport,
  UnsupportedProtocolVersionError,
} from '@modelcontextprotocol/client';
import { err, ok, type Result } from 'neverthrow';
import { never, untilAborted, withDeadline } from '../../../application/async/deadline.ts';
import type { Clock } from '../../../application/ports/clock.ts';
import type { ServerConnection, ServerEvents, ToolServer } from '../../../application/ports/tool-server.ts';
import { keepSubscribed } from './change-subscription.ts';
import { type ClientIdentity, connectClient } from './client.ts';
import { McpConnection } from './mcp-connection.ts';
import { messageFetch } from './message-fetch.ts';
import type { RemoteLogin } from './remote-login.ts';
import { type ConnectFailure, toConnectFailure } from './request-failure.ts';
import { SettlingTransport } from './settling-transport.ts';

export interface RemoteToolServerOptions {
  readonly name: string;
  readonly url: string;
  readonly transport: 'auto' | 'http' | 'sse';
  readonly headers: Readonly<Record<string, string>>;
  /** Maximum size of a response. */
  readonly maxBytes: number;
  readonly forwardBaggage?: boolean | undefined;
  readonly identity: ClientIdentity;
  /** Uses the configured proxy. */
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  /** Absent if the configured headers have credentials. */
  readonly login?: RemoteLogin | undefined;
}

type RemoteTransport = StreamableHTTPClientTransport | SSEClientTransport;
type CreateTransport = (onStreamEnd: () => void) => RemoteTransport;

const LOST = 'the connection was lost';

/** Limits of the wait, which the server chooses, before an event stream that has ended is opened again. */
const [MIN_REOPEN_MS, MAX_REOPEN_MS] = [100, 60_000];
/** How long a server may take to say that it knows MCP 2026-07-28. */
const DISCOVER_MS = 5000;
/** Time limit for another session during a call. */
const RENEW_MS = 10_000;
const END_SESSION_MS = 1000;

/** A server on another machine, over Streamable HTTP, or over the older SSE transport. */
export class RemoteToolServer implements ToolServer {
  readonly login: RemoteLogin | undefined;
  readonly #options: RemoteToolServerOptions;

  constructor(options: RemoteToolServerOptions) {
    this.login = options.login;
    this.#options = options;
  }

  async connect(events: ServerEvents, signal: AbortSignal): Promise<Result<ServerConnection, string>> {
    const { transport } = this.#options;
    const first = await this.#connect(transport === 'sse' ? 'sse' : 'http', events, signal);
    const isOlder = first.isErr() && transport === 'auto' && first.error.isOlderServer;
    const second = isOlder ? await this.#connect('sse', events, signal) : first;
    // The reason of the first attempt is the better one, because most servers have no SSE.
    return second.orElse(() => first).mapErr(({ reason }) => reason);
  }

  async #connect(
    kind: 'http' | 'sse',
    events: ServerEvents,
    signal: AbortSignal,
  ): Promise<Result<ServerConnection, ConnectFailure>> {
    const { name, maxBytes, forwardBaggage } = this.#options;
    const create: CreateTransport = (onStreamEnd) => this.#createTransport(kind, onStreamEnd);
    const sessions = new Sessions(kind, create, events, this.#options);
    try {
      if (signal.aborted) throw new Error('aborted');
      return ok(
        new McpConnection(await sessions.open(signal), {
          name,
          transport: kind,
          pid: undefined,
          maxBytes,
          forwardBaggage,
          lostReason: () => LOST,
          close: () => sessions.close(),
          onBroken: (reason) => sessions.onBroken(reason),
          renew: () => sessions.renew(),
          hasSession: () => sessions.hasSession,
        }),
      );
    } catch (thrown) {
      return err(toConnectFailure(thrown));
    }
  }

  #createTransport(kind: 'http' | 'sse', onStreamEnd: () => void): RemoteTransport {
    const { headers, maxBytes, login, clock } = this.#options;
    const url = new URL(this.#options.url);
    const fetch = messageFetch((login ?? this.#options).fetch, maxBytes);
    const requestInit = { headers: { ...headers } };
    if (kind === 'http') {
      const reconnectionScheduler = (reconnect: () => void, delayMs: number) =>
        clock.after(Math.min(Math.max(delayMs, MIN_REOPEN_MS), MAX_REOPEN_MS), reconnect);
      return new StreamableHTTPClientTransport(url, { requestInit, fetch, reconnectionScheduler });
    }
    const transport: RemoteTransport = new SSEClientTransport(url, { requestInit, fetch: withHttpErrors(fetch) });
    transport.onerror = (error) => {
      if (error instanceof SseError) onStreamEnd();
    };
    return transport;
  }
}

/** The sessions of a connection: the current one, and earlier ones with calls in flight. */
class Sessions {
  readonly #kind: 'http' | 'sse';
  readonly #create: CreateTransport;
  readonly #events: ServerEvents;
  readonly #options: Pick<RemoteToolServerOptions, 'identity' | 'clock'>;
  readonly #transports = new Set<RemoteTransport>();
  /** `auto` asks for MCP 2026-07-28 first. */
  #mode: 'legacy' | 'auto';
  #current: RemoteTransport | undefined;
  #state: 'connecting' | 'connected' | 'over' = 'connecting';

  constructor(
    kind: 'http' | 'sse',
    create: CreateTransport,
    events: ServerEvents,
    options: Pick<RemoteToolServerOptions, 'identity' | 'clock'>,
  ) {
    this.#kind = kind;
    this.#mode = kind === 'sse' ? 'legacy' : 'auto';
    this.#create = create;
    this.#events = events;
    this.#options = options;
  }

  /** Whether the server has given the current session an ID, or keeps it with the connection. */
  get hasSession(): boolean {
    return this.#kind === 'sse' || (this.#current as StreamableHTTPClientTransport).sessionId !== undefined;
  }

  /** Connects. Whatever does not prove a server of MCP 2026-07-28 leads to the handshake of the earlier revisions, whose error counts. */
  async open(signal: AbortSignal): Promise<Client> {
    const client = await this.#open(signal);
    if (client !== 'unproved') return client;
    this.#mode = 'legacy';
    return this.open(signal);
  }

  async #open(signal: AbortSignal): Promise<Client | 'unproved'> {
    const { identity, clock } = this.#options;
    const mode = this.#mode;
    const end = () => {
      this.#transports.delete(transport);
      void transport.close();
    };
    const transport = this.#create(() =>
      transport === this.#current ? this.onBroken('the event stream was closed') : end(),
    );
    this.#transports.add(transport);
    const settling = new SettlingTransport(transport);
    const stop = clock.after(DISCOVER_MS, () => settling.isDiscovering && end());
    try {
      const connecting = connectClient(settling, identity, mode, this.#events, signal);
      // The client ignores the signal while it waits for some responses.
      const client = await untilAborted(connecting, signal);
      if (client === 'aborted') throw new Error('no response in time');
      if (this.#state === 'over') throw new Error(LOST);
      const closed = new AbortController();
      client.onclose = () => {
        this.#transports.delete(transport);
        closed.abort();
      };
      this.#current = transport;
      this.#state = 'connected';
      void keepSubscribed(client, this.#events, clock, closed.signal);
      return client;
    } catch (thrown) {
      end();
      const isOver = signal.aborted || this.#state === 'over';
      const isProved = settling.hasInitialized || thrown instanceof UnsupportedProtocolVersionError;
      if (isOver || isProved || mode === 'legacy') throw thrown;
      return 'unproved';
    } finally {
      stop();
    }
  }

  /** Opens another session for a call. */
  async renew(): Promise<Client> {
    if (this.#state === 'over') throw new Error(LOST);
    return this.open(AbortSignal.timeout(RENEW_MS));
  }

  onBroken(reason: string): void {
    const wasConnected = this.#state === 'connected';
    this.#state = 'over';
    void this.#closeAll();
    if (wasConnected) this.#events.onLost(reason);
  }

  async close(): Promise<void> {
    this.#state = 'over';
    await endSession(this.#current, this.#options.clock);
    await this.#closeAll();
  }

  async #closeAll(): Promise<void> {
    await Promise.all([...this.#transports].map((transport) => transport.close()));
  }
}

/** Throws an error with the status of a refused message, which the SSE transport would report only as text. */
function withHttpErrors(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (url, init) => {
    const response = await fetch(url, init);
    if (init?.method !== 'POST' || response.status < 400) return response;
    const { status, statusText } = response;
    const text = await response.text().catch(() => '');
    throw new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, 'refused', { status, statusText, text });
  };
}

/** Ends the session on the server. A failure is ignored, because servers forget unused sessions. */
async function endSession(transport: RemoteTransport | undefined, clock: Clock): Promise<void> {
  if (!(transport instanceof StreamableHTTPClientTransport) || transport.sessionId === undefined) return;
  const ended = transport.terminateSession().catch(() => {});
  await withDeadline(clock, END_SESSION_MS, never(), (limit) => untilAborted(ended, limit));
}
