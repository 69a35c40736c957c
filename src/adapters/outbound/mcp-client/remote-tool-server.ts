import {
  type Client,
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  SseError,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { err, ok, type Result } from 'neverthrow';
import { never, untilAborted, withDeadline } from '../../../application/async/deadline.ts';
import type { Clock } from '../../../application/ports/clock.ts';
import type { ServerConnection, ServerEvents, ToolServer } from '../../../application/ports/tool-server.ts';
import { boundedFetch } from './bounded-fetch.ts';
import { keepSubscribed } from './change-subscription.ts';
import { type ClientIdentity, connectClient } from './client.ts';
import { McpConnection } from './mcp-connection.ts';
import type { RemoteLogin } from './remote-login.ts';
import { type ConnectFailure, toConnectFailure } from './request-failure.ts';

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

/** Limits of the wait, which the server chooses, before an event stream that has ended is opened again. */
const [MIN_REOPEN_MS, MAX_REOPEN_MS] = [100, 60_000];
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
    return (isOlder ? await this.#connect('sse', events, signal) : first).mapErr(({ reason }) => reason);
  }

  async #connect(
    kind: 'http' | 'sse',
    events: ServerEvents,
    signal: AbortSignal,
  ): Promise<Result<ServerConnection, ConnectFailure>> {
    const { name, maxBytes, forwardBaggage, identity, clock } = this.#options;
    /** The transport of the current session. `transports` also has those of earlier sessions with calls in flight. */
    let current: RemoteTransport | undefined;
    const transports = new Set<RemoteTransport>();
    let state: 'connecting' | 'connected' | 'over' = 'connecting';
    const closeAll = () => Promise.all([...transports].map((transport) => transport.close()));
    const onBroken = (reason: string) => {
      const wasConnected = state === 'connected';
      state = 'over';
      void closeAll();
      if (wasConnected) events.onLost(reason);
    };
    const open = async (signal: AbortSignal): Promise<Client> => {
      const end = () => {
        transports.delete(transport);
        void transport.close();
      };
      const onStreamEnd = () => (transport === current ? onBroken('the event stream was closed') : end());
      const transport = this.#createTransport(kind, onStreamEnd);
      transports.add(transport);
      try {
        const mode = kind === 'sse' ? 'legacy' : 'auto';
        const connecting = connectClient(transport, identity, mode, events, signal);
        // The client ignores the signal while it waits for some responses.
        const client = await untilAborted(connecting, signal);
        if (client === 'aborted') throw new Error('no response in time');
        if (state === 'over') throw new Error('the connection was lost');
        const closed = new AbortController();
        client.onclose = () => {
          transports.delete(transport);
          closed.abort();
        };
        current = transport;
        void keepSubscribed(client, events, clock, closed.signal);
        return client;
      } catch (thrown) {
        end();
        throw thrown;
      }
    };
    const close = async () => {
      state = 'over';
      await endSession(current, clock);
      await closeAll();
    };
    try {
      if (signal.aborted) throw new Error('aborted');
      const client = await open(signal);
      state = 'connected';
      return ok(
        new McpConnection(client, {
          name,
          transport: kind,
          pid: undefined,
          maxBytes,
          forwardBaggage,
          lostReason: () => 'the connection was lost',
          close,
          onBroken,
          renew: async () => {
            if (state === 'over') throw new Error('the connection was lost');
            return open(AbortSignal.timeout(RENEW_MS));
          },
          hasSession: () => kind === 'sse' || (current as StreamableHTTPClientTransport).sessionId !== undefined,
        }),
      );
    } catch (thrown) {
      return err(toConnectFailure(thrown));
    }
  }

  #createTransport(kind: 'http' | 'sse', onStreamEnd: () => void): RemoteTransport {
    const { headers, maxBytes, login, clock } = this.#options;
    const url = new URL(this.#options.url);
    const fetch = boundedFetch((login ?? this.#options).fetch, maxBytes);
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
