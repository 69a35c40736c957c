import type { IncomingMessage as HttpRequest, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** No HTTP client that is in use sends further requests on a connection before it has the response to the first. */
const MAX_REQUESTS = 100;
const CLOSING = Number.POSITIVE_INFINITY;

/**
 * The requests in progress of each connection. Node.js reads up to 64 KiB at once, which are more than a thousand small requests, so that
 * a client that does not wait for responses could keep the process busy.
 */
export class Connections {
  readonly #requests = new WeakMap<Socket, number>();
  /** The connections of requests that have ended in this turn of the event loop. */
  #ended: Socket[] = [];

  /** Discards connections of which nothing is read for `unreadMs`, as found every `everyMs`. */
  watch(server: Server, unreadMs: number, everyMs: number): void {
    const open = new Set<Socket>();
    server.on('connection', (socket: Socket) => {
      open.add(socket);
      socket.once('close', () => open.delete(socket));
    });
    // Only for those that need it: setting a timeout takes time in every request. Node.js ends it with the response.
    const check = () => {
      for (const socket of open) if (socket.writableLength > 0 && !socket.timeout) socket.setTimeout(unreadMs);
    };
    const timer = setInterval(check, everyMs).unref();
    server.once('close', () => clearInterval(timer));
    server.on('timeout', (socket) => this.#onTimeout(socket));
  }

  /** Whether the request may be served. A connection with too many is closed; after its last response, nothing more is served. */
  begin({ socket }: HttpRequest): boolean {
    const requests = this.#requests.get(socket) ?? 0;
    if (requests === CLOSING) socket.pause();
    if (requests === CLOSING || socket.destroyed) return false;
    if (requests === MAX_REQUESTS) {
      socket.destroy();
      return false;
    }
    this.#requests.set(socket, requests + 1);
    return true;
  }

  /** The request counts until the next turn: those that have arrived together are served together, before other connections. */
  end({ socket }: HttpRequest): void {
    if (this.#ended.push(socket) === 1) setImmediate(() => this.#count());
  }

  #count(): void {
    for (const socket of this.#ended) this.#requests.set(socket, (this.#requests.get(socket) ?? 0) - 1);
    this.#ended = [];
  }

  /** Makes the response the last of its connection: only callers may keep connections, of which there is a limited number. */
  close({ socket }: HttpRequest, response: ServerResponse): void {
    this.#requests.set(socket, CLOSING);
    response.setHeader('Connection', 'close');
  }

  /** Nothing was read or written for a while: closes the connection, unless it waits for a response that is not ready. */
  #onTimeout(socket: Socket): void {
    const isWaiting = (this.#requests.get(socket) ?? 0) > 0 && socket.writableLength === 0;
    if (!isWaiting) socket.destroy();
  }
}
