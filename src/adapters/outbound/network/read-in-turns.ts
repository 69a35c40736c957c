import type { Socket } from 'node:net';
import type { buildConnector, Dispatcher } from 'undici';

/**
 * How many parts of bodies are read in a turn of the event loop. Each takes at least 15 µs, however small it is, and what has arrived on a
 * connection may be ten thousand.
 */
const PARTS_PER_TURN = 250;
/** How much is read of a connection at once: the least has at most so many parts, of which each is 6 bytes; it doubles while parts are large. */
const [LEAST_BYTES, FIRST_BYTES, MOST_BYTES] = [6 * PARTS_PER_TURN, 2 * 1024, 16 * 1024];
/** Of a read with more, the next is short. */
const MANY_PARTS = 50;

/** A connection, and what is read of it. */
interface Reading {
  readonly socket: Socket;
  bytes: number;
  /** Of the last read. */
  parts: number;
  /** The reader of the body does not want more yet. */
  isHeld: boolean;
  /** The parser got nothing although something may have arrived. */
  isStopped: boolean;
}

/**
 * Reads bodies in turns, which all connections of a dispatcher share: `connector` makes them, and `interceptor` sees their bodies. undici's own way to pause is
 * not used: if a connection ends while its parser is paused, an assertion fails, which would end the process.
 */
export function readInTurns() {
  let left = PARTS_PER_TURN;
  let isScheduled = false;
  const waiting = new Set<Reading>();
  /** Whose bytes are parsed. */
  let current: Reading | undefined;

  const schedule = () => {
    if (!isScheduled) setImmediate(onTurn);
    isScheduled = true;
  };
  const onTurn = () => {
    left = PARTS_PER_TURN;
    isScheduled = false;
    for (const reading of waiting) {
      if (left <= 0) return schedule();
      waiting.delete(reading);
      if (!reading.socket.destroyed) reading.socket.emit('readable');
    }
  };
  const wait = (reading: Reading) => {
    waiting.add(reading);
    schedule();
  };

  const slice = (socket: Socket) => {
    const read = socket.read.bind(socket);
    const reading: Reading = { socket, bytes: FIRST_BYTES, parts: 0, isHeld: false, isStopped: false };
    socket.read = (size?: number) => {
      if (size !== undefined) return read(size);
      reading.isStopped = left <= 0 || reading.isHeld;
      if (reading.isStopped && !reading.isHeld) wait(reading);
      if (reading.isStopped) return null;
      reading.bytes = reading.parts > MANY_PARTS ? LEAST_BYTES : Math.min(2 * reading.bytes, MOST_BYTES);
      reading.parts = 0;
      current = reading;
      return socket.readableLength > reading.bytes ? read(reading.bytes) : read();
    };
    return socket;
  };

  const connector =
    (connect: buildConnector.connector): buildConnector.connector =>
    (options, callback) =>
      connect(options, (...[error, socket]) => {
        if (error === null) callback(null, slice(socket));
        else callback(error, null);
      });

  const interceptor: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
    let reading: Reading | undefined;
    const hold = (isHeld: boolean) => {
      if (reading === undefined) return;
      reading.isHeld = isHeld;
      if (!isHeld && reading.isStopped) wait(reading);
    };
    return dispatch(options, {
      onRequestStart(controller, context) {
        controller.pause = () => hold(true);
        controller.resume = () => hold(false);
        handler.onRequestStart?.(controller, context);
      },
      onRequestUpgrade: (...upgrade) => handler.onRequestUpgrade?.(...upgrade),
      onResponseStart(controller, status, ...more) {
        reading = current;
        handler.onResponseStart?.(controller, status, ...more);
        // After an interim response, readers pause without an end.
        if (status < 200) hold(false);
      },
      onResponseData(controller, part) {
        left -= 1;
        if (reading !== undefined) reading.parts += 1;
        schedule();
        handler.onResponseData?.(controller, part);
      },
      onResponseEnd(...end) {
        hold(false);
        handler.onResponseEnd?.(...end);
      },
      onResponseError: (...error) => handler.onResponseError?.(...error),
    });
  };
  return { connector, interceptor };
}
