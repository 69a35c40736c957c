import type { IncomingMessage as HttpRequest } from 'node:http';
import type { Socket } from 'node:net';

/** The headers of usual clients fit in it, and at most about 60 requests. */
const SLICE_BYTES = 2048;

/** How many slices, each of another connection, are passed on before what has arrived is read: a body may have thousands of parts. */
const SLICES_PER_TURN = 4;

interface Requests {
  /** The last that is served: what arrives after its body is discarded. */
  readonly last?: Pick<HttpRequest, 'complete'>;
}

/**
 * Passes what arrives on connections to the HTTP parser in slices; the connections take turns. Node.js reads up to 64 KiB at once, and
 * creates all of their requests, more than a thousand, before the first response can close the connection.
 */
export function slicedInput(): (socket: Socket, requests: Requests) => void {
  /** Each passes the next slice of a connection. */
  const waiting: (() => void)[] = [];
  let isScheduled = false;
  const schedule = () => {
    if (isScheduled || waiting.length === 0) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      for (const pass of waiting.splice(0, SLICES_PER_TURN)) pass();
      schedule();
    });
  };
  // Only the source of the socket's stream changes (`push` and `_read`), so that Node.js still decides about order, end and pauses.
  return (socket, requests) => {
    // Node.js connects the parser to the socket's handle, past the stream, until there is a listener of its own.
    const ignore = () => {};
    socket.on('data', ignore).off('data', ignore);
    const push = socket.push.bind(socket);
    const read = socket._read.bind(socket);
    const chunks: (Buffer | null)[] = [];
    // The body of the last request is still received, because its sender may read the response only after it has sent everything.
    const areOver = () => requests.last?.complete === true;

    const pass = () => {
      const [chunk] = chunks;
      if (chunk === undefined) return;
      if (socket.destroyed || areOver()) {
        chunks.length = 0;
        return;
      }
      // A paused stream keeps what is pushed, and passes all of it on at once.
      if (socket.isPaused()) return void socket.once('resume', wait);
      const [slice, rest] = chunk === null ? [null] : [chunk.subarray(0, SLICE_BYTES), chunk.subarray(SLICE_BYTES)];
      chunks.splice(0, 1, ...(rest?.length ? [rest] : []));
      push(slice);
      if (chunks.length > 0) wait();
    };
    const wait = () => {
      waiting.push(pass);
      schedule();
    };
    socket.push = (chunk: Buffer | null) => {
      if (chunk !== null && areOver()) return false;
      if (chunks.length === 0 && (chunk === null || chunk.length <= SLICE_BYTES)) return push(chunk);
      if (chunks.push(chunk) === 1) wait();
      return false;
    };
    socket._read = (size) => {
      if (chunks.length === 0) read(size);
    };
  };
}
