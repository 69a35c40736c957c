import { setMaxListeners } from 'node:events';
import type { IncomingMessage as HttpRequest, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { DISCONNECTED, listenedController } from '../../../../application/async/deadline.ts';
import { InProgress } from '../../../../application/async/in-progress.ts';
import { slicedInput } from './sliced-input.ts';

/** No HTTP client that is in use sends further requests on a connection before it has the response to the first. */
const MAX_REQUESTS = 100;

interface Connection {
  readonly inProgress: InProgress<ServerResponse>;
  /** The request whose response is the last. */
  last?: HttpRequest;
  /** Aborts when the connection closes. */
  readonly closed: AbortController;
}

/** The requests of each connection: a client that does not wait for responses could keep the process busy, or fill its memory. */
export class Connections {
  readonly #open = new Map<Socket, Connection>();

  /** Limits the input of connections, and discards those of which nothing is read for `unreadMs`, as found every `everyMs`. */
  constructor(server: Server, unreadMs: number, everyMs: number) {
    const slice = slicedInput();
    server.on('connection', (socket: Socket) => {
      const connection: Connection = { inProgress: new InProgress(), closed: listenedController() };
      // A connection may have any number of requests in progress.
      setMaxListeners(0, connection.closed.signal);
      this.#open.set(socket, connection);
      socket.once('close', () => {
        this.#open.delete(socket);
        connection.closed.abort(DISCONNECTED);
        // Node.js destroys only the first of the pipelined responses, and emits `close` on it.
        for (const response of connection.inProgress) response.destroy().emit('close');
      });
      slice(socket, connection);
    });
    // Only for those that need it: setting a timeout takes time in every request. Node.js ends it with the response.
    const check = () => {
      for (const socket of this.#open.keys()) {
        if (socket.writableLength > 0 && !socket.timeout) socket.setTimeout(unreadMs);
      }
    };
    const timer = setInterval(check, everyMs).unref();
    server.once('close', () => clearInterval(timer));
    // Nothing was read or written for a while: closes the connection, unless it waits for a response that is not ready.
    server.on('timeout', (socket) => {
      const isWaiting = (this.#open.get(socket)?.inProgress.size ?? 0) > 0 && socket.writableLength === 0;
      if (!isWaiting) socket.destroy();
    });
  }

  /**
   * A signal that aborts when the connection closes, one for all its requests; undefined if the request must not be served. A connection with
   * too many is closed; after its last response, nothing more is served.
   */
  begin({ socket }: HttpRequest, response: ServerResponse): AbortSignal | undefined {
    const connection = this.#open.get(socket);
    if (connection === undefined) return undefined;
    if (connection.last !== undefined || socket.destroyed) return undefined;
    if (connection.inProgress.size === MAX_REQUESTS) {
      socket.destroy();
      return undefined;
    }
    connection.inProgress.add(response);
    return connection.closed.signal;
  }

  end({ socket }: HttpRequest, response: ServerResponse): void {
    this.#open.get(socket)?.inProgress.delete(response);
  }

  /** Makes the response the last of its connection: only callers may keep connections, of which there is a limited number. */
  close(request: HttpRequest, response: ServerResponse): void {
    const connection = this.#open.get(request.socket);
    if (connection !== undefined) connection.last = request;
    response.setHeader('Connection', 'close');
  }
}
