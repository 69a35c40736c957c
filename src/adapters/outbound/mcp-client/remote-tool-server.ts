import { type Client, SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { err, ok, type Result } from 'neverthrow';
import type { ServerConnection, ServerEvents, ToolServer } from '../../../application/ports/tool-server.ts';
import { type ClientIdentity, connectClient } from './client.ts';
import { type ConnectFailure, toConnectFailure } from './connect-failure.ts';
import { McpConnection } from './mcp-connection.ts';
import { remoteFetch } from './remote-fetch.ts';

interface RemoteToolServerOptions {
  readonly name: string;
  readonly url: string;
  readonly transport: 'auto' | 'http' | 'sse';
  readonly headers: Readonly<Record<string, string>>;
  /** Maximum size of a response. */
  readonly maxBytes: number;
  readonly identity: ClientIdentity;
  /** Uses the configured proxy. */
  readonly fetch: typeof fetch;
}

type RemoteTransport = StreamableHTTPClientTransport | SSEClientTransport;

/** A server on another machine, over Streamable HTTP, or over the older SSE transport (rulings G5, G21, G22). */
export class RemoteToolServer implements ToolServer {
  readonly #options: RemoteToolServerOptions;

  constructor(options: RemoteToolServerOptions) {
    this.#options = options;
  }

  async connect(events: ServerEvents, signal: AbortSignal): Promise<Result<ServerConnection, string>> {
    const { transport } = this.#options;
    if (transport === 'sse') return (await this.#connect('sse', events, signal)).mapErr(({ reason }) => reason);
    const connected = await this.#connect('http', events, signal);
    const isOlder = connected.isErr() && transport === 'auto' && connected.error.isOlderServer;
    return (isOlder ? await this.#connect('sse', events, signal) : connected).mapErr(({ reason }) => reason);
  }

  async #connect(
    kind: 'http' | 'sse',
    events: ServerEvents,
    signal: AbortSignal,
  ): Promise<Result<ServerConnection, ConnectFailure>> {
    const { name, maxBytes, identity } = this.#options;
    let transport: RemoteTransport | undefined;
    let isOver = false;
    const onBroken = (reason: string) => {
      if (isOver) return;
      isOver = true;
      void transport?.close();
      events.onLost(reason);
    };
    const open = (signal: AbortSignal): Promise<Client> => {
      // The client, and what it still waits for, belongs to the session that the server no longer knows.
      void transport?.close();
      transport = this.#open(kind, onBroken);
      return connectClient(transport, { identity, mode: kind === 'http' ? 'auto' : 'legacy', events, signal });
    };
    const close = async () => {
      isOver = true;
      await endSession(transport);
      await transport?.close();
    };
    try {
      const client = await open(signal);
      const lostReason = () => 'the connection was lost';
      const options = { name, transport: kind, pid: undefined, maxBytes, lostReason, close, onBroken, renew: open };
      return ok(new McpConnection(client, options));
    } catch (thrown) {
      isOver = true;
      await transport?.close();
      return err(toConnectFailure(thrown));
    }
  }

  #open(kind: 'http' | 'sse', onBroken: (reason: string) => void): RemoteTransport {
    const { url, headers, maxBytes, fetch } = this.#options;
    const options = {
      requestInit: { headers: { ...headers } },
      fetch: remoteFetch({
        fetch,
        maxBytes,
        deliver: (message) => transport.onmessage?.(message),
        // Over SSE, all responses arrive on this stream.
        onStreamEnd: () => {
          if (kind === 'sse') onBroken('the event stream was closed');
        },
      }),
    };
    const transport: RemoteTransport =
      kind === 'sse'
        ? new SSEClientTransport(new URL(url), options)
        : new StreamableHTTPClientTransport(new URL(url), options);
    return transport;
  }
}

const END_SESSION_MS = 1000;

/** Polite, but optional: a server forgets sessions that are not used. */
async function endSession(transport: RemoteTransport | undefined): Promise<void> {
  if (!(transport instanceof StreamableHTTPClientTransport) || transport.sessionId === undefined) return;
  const limit = new Promise<void>((resolve) => setTimeout(resolve, END_SESSION_MS).unref());
  await Promise.race([transport.terminateSession().catch(() => {}), limit]);
}
