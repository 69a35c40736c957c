import {
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  SseError,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { err, ok, type Result } from 'neverthrow';
import { GrowingWait } from '../../../application/async/waits.ts';
import type { Services } from '../../../application/ports/services.ts';
import type { ServerConnection, ServerEvents, ToolServer } from '../../../application/ports/tool-server.ts';
import type { JsonObject } from '../../../domain/values/json.ts';
import type { ClientIdentity } from './client.ts';
import { McpConnection } from './mcp-connection.ts';
import { messageFetch } from './message-fetch.ts';
import type { RemoteLogin } from './remote-login.ts';
import { type ConnectFailure, toConnectFailure } from './request-failure.ts';
import { type CreateTransport, LOST, type RemoteTransport, type SessionState, Sessions } from './sessions.ts';

export interface RemoteToolServerOptions extends Pick<Services, 'clock' | 'logger'> {
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
  /** Returns what callers can be asked, when a session begins. */
  readonly declared?: (() => JsonObject) | undefined;
  /** Absent if the configured headers have credentials. */
  readonly login?: RemoteLogin | undefined;
}

/** Limits of the wait, which the server chooses, before an event stream that has ended is opened again. */
const [MIN_REOPEN_MS, MAX_REOPEN_MS] = [100, 60_000];
/** The second wait of streams that bring nothing. Later ones grow, because some servers end every stream at once. */
const FIRST_REOPEN_MS = 1000;
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
    const { name, maxBytes, forwardBaggage, logger } = this.#options;
    const create: CreateTransport = (session) => this.#createTransport(kind, session);
    const sessions = new Sessions(kind, create, events, this.#options);
    try {
      if (signal.aborted) throw new Error('aborted');
      return ok(
        new McpConnection(await sessions.open(signal), {
          name,
          transport: kind,
          pid: undefined,
          maxBytes,
          logger,
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

  #createTransport(kind: 'http' | 'sse', { onStreamEnd, isBusy, questions, onExact }: SessionState): RemoteTransport {
    const { headers, maxBytes, login, clock } = this.#options;
    const url = new URL(this.#options.url);
    const on = { onServerRequest: questions.onStream.bind(questions), onExact };
    const fetch = messageFetch((login ?? this.#options).fetch, maxBytes, on);
    const requestInit = { headers: { ...headers } };
    if (kind === 'http') {
      const wait = new GrowingWait(clock, FIRST_REOPEN_MS, 1);
      const reconnectionScheduler = (reconnect: () => void, delayMs: number) => {
        const askedMs = Math.min(Math.max(delayMs, MIN_REOPEN_MS), MAX_REOPEN_MS);
        return clock.after(isBusy() ? askedMs : Math.max(askedMs, wait.next()), reconnect);
      };
      return new StreamableHTTPClientTransport(url, { requestInit, fetch: withStreams(fetch), reconnectionScheduler });
    }
    const transport: RemoteTransport = new SSEClientTransport(url, { requestInit, fetch: withHttpErrors(fetch) });
    transport.onerror = (error) => {
      if (error instanceof SseError) onStreamEnd();
    };
    return transport;
  }
}

/** Reads any answer to the request for an event stream that is no event stream as 405: the server has none, and is not asked again. */
function withStreams(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (url, init) => {
    const response = await fetch(url, init);
    const isStream = /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '');
    if (init?.method !== 'GET' || !response.ok || isStream) return response;
    void response.body?.cancel().catch(() => {});
    return new Response(undefined, { status: 405 });
  };
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
