import {
  type Client,
  type SSEClientTransport,
  StreamableHTTPClientTransport,
  UnsupportedProtocolVersionError,
} from '@modelcontextprotocol/client';
import { never, untilAborted, withDeadline } from '../../../application/async/deadline.ts';
import { GrowingWait } from '../../../application/async/waits.ts';
import type { Clock, Services } from '../../../application/ports/services.ts';
import type { ServerEvents } from '../../../application/ports/tool-server.ts';
import type { JsonObject } from '../../../domain/values/json.ts';
import { type ClientIdentity, connectClient } from './client.ts';
import type { OnExact } from './messages.ts';
import { ServerQuestions } from './server-questions.ts';
import { SettlingTransport } from './settling-transport.ts';

export type RemoteTransport = StreamableHTTPClientTransport | SSEClientTransport;
export type CreateTransport = (session: SessionState) => RemoteTransport;

/** What a transport needs to know about its session. */
export interface SessionState {
  readonly onStreamEnd: () => void;
  /** Whether a call waits for its response, which may come on a stream that is opened again. */
  readonly isBusy: () => boolean;
  readonly questions: ServerQuestions;
  readonly onExact: OnExact;
}

interface SessionOptions extends Pick<Services, 'clock'> {
  readonly name: string;
  readonly identity: ClientIdentity;
  /** Returns what callers can be asked, when a session begins. */
  readonly declared?: (() => JsonObject) | undefined;
}

export const LOST = 'the connection was lost';

/** How long a server may take to say that it knows MCP 2026-07-28. */
const DISCOVER_MS = 5000;
/** Time limit for another session during a call. */
const RENEW_MS = 10_000;
const END_SESSION_MS = 1000;

/** The sessions of a connection: the current one, and earlier ones with calls in flight. */
export class Sessions {
  readonly #kind: 'http' | 'sse';
  readonly #create: CreateTransport;
  readonly #events: ServerEvents;
  readonly #options: SessionOptions;
  readonly #transports = new Set<RemoteTransport>();
  /** `auto` asks for MCP 2026-07-28 first. */
  #mode: 'legacy' | 'auto';
  #current: RemoteTransport | undefined;
  #state: 'connecting' | 'connected' | 'over' = 'connecting';

  constructor(kind: 'http' | 'sse', create: CreateTransport, events: ServerEvents, options: SessionOptions) {
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
    const { name, identity, clock, declared } = this.#options;
    const questions = new ServerQuestions(name, clock);
    const mode = this.#mode;
    const end = () => {
      this.#transports.delete(transport);
      void transport.close();
    };
    const transport = this.#create({
      onStreamEnd: () => (transport === this.#current ? this.onBroken('the event stream was closed') : end()),
      isBusy: () => settling.isBusy,
      questions,
      onExact: (message) => settling.exact.keep(message),
    });
    this.#transports.add(transport);
    const settling: SettlingTransport = new SettlingTransport(transport, questions);
    const stop = clock.after(DISCOVER_MS, () => settling.isDiscovering && end());
    try {
      const connecting = connectClient(settling, { identity, mode, declared: declared?.() }, this.#events, signal);
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

/** Ends the session on the server. A failure is ignored, because servers forget unused sessions. */
async function endSession(transport: RemoteTransport | undefined, clock: Clock): Promise<void> {
  if (!(transport instanceof StreamableHTTPClientTransport) || transport.sessionId === undefined) return;
  const ended = transport.terminateSession().catch(() => {});
  await withDeadline(clock, END_SESSION_MS, never(), (limit) => untilAborted(ended, limit));
}

/** The first wait before a new subscription. Later ones grow, because a server may end every stream at once. */
const REOPEN_MS = 3000;

/**
 * Subscribes to changes again whenever the stream of the client's own subscription (MCP 2026-07-28) ends, because proxies cut idle
 * streams. All lists are then reported as changed, because a change may have been missed. Ends when `signal` aborts. Never rejects.
 */
async function keepSubscribed(
  client: Pick<Client, 'autoOpenedSubscription' | 'listen'>,
  events: Pick<ServerEvents, 'onToolsChanged' | 'onListChanged'>,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  let subscription = client.autoOpenedSubscription;
  const more = events.onListChanged && { promptsListChanged: true, resourcesListChanged: true };
  const filter = { toolsListChanged: true, ...more };
  const wait = new GrowingWait(clock, REOPEN_MS, 0);
  while (subscription !== undefined) {
    if ((await subscription.closed) === 'local') return;
    if ((await clock.sleep(wait.next(), signal)) === 'aborted') return;
    // If this fails, the earlier subscription is still closed, so that the next attempt follows.
    const again = await client.listen(filter).catch(() => undefined);
    if (again === undefined) continue;
    subscription = again;
    events.onToolsChanged();
    for (const list of ['resources', 'prompts'] as const) events.onListChanged?.(list);
  }
}
