import { setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';

const signals = new WeakMap<Socket, AbortSignal>();

/**
 * A signal that aborts when the connection closes. All requests of a connection share it, because creating a signal takes a tenth of the
 * time of a short call. It also aborts after a response was sent, when the client no longer needs the connection.
 */
export function connectionSignal(socket: Socket): AbortSignal {
  const known = signals.get(socket);
  if (known !== undefined) return known;
  const controller = new AbortController();
  // A connection may have any number of requests in progress.
  setMaxListeners(0, controller.signal);
  if (socket.destroyed) controller.abort();
  else socket.once('close', () => controller.abort());
  signals.set(socket, controller.signal);
  return controller.signal;
}
