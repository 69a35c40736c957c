import type { IncomingMessage as HttpRequest, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { SlicedInput } from './sliced-input.ts';

/** No HTTP client that is in use sends further requests on a connection before it has the response to the first. */
const MAX_REQUESTS = 100;

interface Connection {
  /** Requests without a complete response. */
  inProgress: number;
  /** All requests, also those that are not served. */
  parsed: number;
  /** The request whose response is the last. */
  last?: HttpRequest;
}

/** The requests of each connection: a client that does not wait for responses could keep the process busy, or fill its memory. */
export class Connections {
  readonly #connections = new WeakMap<Socket, Connection>();

  /** Limits the input of connections, and discards those of which nothing is read for `unreadMs`, as found every `everyMs`. */
  watch(server: Server, unreadMs: number, everyMs: number): void {
    const open = new Set<Socket>();
    const input = new SlicedInput();
    server.on('connection', (socket: Socket) => {
      open.add(socket);
      socket.once('close', () => open.delete(socket));
      const connection = this.#of(socket);
      // The body of the last request is still received, because its sender may read the response only after it has sent everything.
      input.add(socket, { parsed: () => connection.parsed, areOver: () => connection.last?.complete === true });
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
    const connection = this.#of(socket);
    connection.parsed += 1;
    if (connection.last !== undefined || socket.destroyed) return false;
    if (connection.inProgress === MAX_REQUESTS) {
      socket.destroy();
      return false;
    }
    connection.inProgress += 1;
    return true;
  }

  end({ socket }: HttpRequest): void {
    this.#of(socket).inProgress -= 1;
  }

  /** Makes the response the last of its connection: only callers may keep connections, of which there is a limited number. */
  close(request: HttpRequest, response: ServerResponse): void {
    this.#of(request.socket).last = request;
    response.setHeader('Connection', 'close');
  }

  #of(socket: Socket): Connection {
    const known = this.#connections.get(socket);
    if (known !== undefined) return known;
    const connection = { inProgress: 0, parsed: 0 };
    this.#connections.set(socket, connection);
    return connection;
  }

  /** Nothing was read or written for a while: closes the connection, unless it waits for a response that is not ready. */
  #onTimeout(socket: Socket): void {
    const isWaiting = this.#of(socket).inProgress > 0 && socket.writableLength === 0;
    if (!isWaiting) socket.destroy();
  }
}
