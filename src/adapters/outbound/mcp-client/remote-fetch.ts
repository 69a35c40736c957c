import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { traceContextOf } from '../../../domain/gateway/trace-context.ts';
import { BoundedSet } from '../../../domain/values/bounded-set.ts';
import { certificateProblem } from '../../../domain/values/certificate-problem.ts';
import { isObject, parseJson } from '../../../domain/values/json.ts';
import { JsonNesting, MAX_NESTING } from '../../../domain/values/json-nesting.ts';
import { inTurns } from './in-turns.ts';
import {
  type Answered,
  answeredBy,
  type Excess,
  type LineEnds,
  LineReader,
  partsExcess,
  type ReadLine,
} from './line-reader.ts';
import { errorResponse, excessResponse, LOST, readCutMessage } from './substitute-response.ts';

interface RemoteFetchOptions {
  readonly fetch: typeof fetch;
  /** Maximum size of a message. */
  readonly maxBytes: number;
  /** Delivers a message in place of a response that cannot be read. The client ignores it if it already has the response. */
  readonly deliver: (message: JSONRPCMessage) => void;
  /** The stream (GET) with all messages of the server has ended. Undefined: a response is that to the request. */
  readonly onStreamEnd?: (() => void) | undefined;
}

/** How many requests of the server are answered at a time. Without a limit, a flood of them would fill the memory. */
const MAX_ANSWERS = 100;

type Bytes = TransformStream<Uint8Array, Uint8Array>;

/**
 * A `fetch` for the official client's HTTP transports, which would otherwise read a message of any size, and wait until the timeout for a
 * response whose connection was lost.
 */
export function remoteFetch(options: RemoteFetchOptions): typeof globalThis.fetch {
  const { fetch, maxBytes, deliver, onStreamEnd } = options;
  let answering = 0;
  /** The last requests whose results, which may be large, arrive on the stream of the SSE transport. */
  const asked = new BoundedSet();
  return async (url, init) => {
    const isPost = init?.method === 'POST';
    const message = isPost && typeof init.body === 'string' ? parseJson(init.body) : undefined;
    const isAnswer = isObject(message) && !('method' in message);
    if (isAnswer && answering >= MAX_ANSWERS) throw new Error('the server has too many requests in progress');
    if (isAnswer) answering += 1;
    const expected = isObject(message) ? answeredBy(message.method) : 'other';
    if (isObject(message) && expected !== 'other' && onStreamEnd !== undefined) asked.add(`${expected} ${message.id}`);
    const answeredIn = ({ head, tail }: LineEnds): Answered => {
      const cut = isPost ? undefined : readCutEvent(head, tail);
      const isOf = (answered: Answered) => cut?.kind === 'response' && asked.has(`${answered} ${cut.id}`);
      return isOf('call') ? 'call' : isOf('list') ? 'list' : expected;
    };
    const response = await fetch(url, withTraceHeaders(init, isObject(message) ? message.params : undefined))
      .catch(withCertificateProblem)
      .finally(() => {
        if (isAnswer) answering -= 1;
      });
    const { body } = response;
    if (body === null) return response;
    const isRequest = isObject(message) && 'method' in message && onStreamEnd === undefined && response.ok;
    const id = isRequest ? (message.id as string | number | undefined) : undefined;
    const onExcess = (excess: Excess, answered: string | number) => deliver(excessResponse(answered, excess, maxBytes));
    const bounded = /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '')
      ? eventLimit(maxBytes, id, answeredIn, onExcess)
      : bodyLimit(maxBytes, expected, (excess) => id !== undefined && onExcess(excess, id));
    const onEnd = (error?: unknown) => {
      const reason = error instanceof UnreadableEvent ? error.message : 'the connection was closed before the response';
      // The reader must get the last chunk first.
      setTimeout(() => {
        if (id !== undefined) deliver(errorResponse(id, LOST, reason));
        else if (!isPost) onStreamEnd?.();
      }, 0);
    };
    body.pipeTo(bounded.writable).then(() => onEnd(), onEnd);
    const read = new Response(bounded.readable, response);
    const json = async () => {
      const text = await read.text();
      // To parse a large text takes a turn of its own.
      await nextTurn();
      return JSON.parse(text);
    };
    return Object.assign(read, { json });
  };
}

/** The headers repeat the trace in the parameters of a request, for proxies (ruling T18). */
function withTraceHeaders(init: RequestInit | undefined, params: unknown): RequestInit | undefined {
  const trace = traceContextOf(isObject(params) ? params._meta : undefined);
  if (trace === undefined) return init;
  const headers = new Headers(init?.headers);
  for (const [name, value] of Object.entries(trace)) headers.set(name, value);
  return { ...init, headers };
}

/** The SSE transport keeps only messages, and that of a certificate has no code. */
function withCertificateProblem(error: Error): never {
  const problem = certificateProblem(error);
  throw problem === undefined ? error : new TypeError(`${error.message}: ${problem}`, { cause: error.cause });
}

/** A body that is one message. */
function bodyLimit(maxBytes: number, answered: Answered, onExcess: (excess: Excess) => void): Bytes {
  const nesting = new JsonNesting(MAX_NESTING);
  let length = 0;
  return new TransformStream({
    transform(chunk, controller) {
      length += chunk.length;
      const excess = length > maxBytes ? 'too_large' : partsExcess(nesting, chunk, answered);
      if (excess === undefined) return controller.enqueue(chunk);
      onExcess(excess);
      controller.error(new Error('the response exceeds a limit'));
    },
  });
}

const DATA = 'data: ';
const LINE_END = Buffer.from('\n');

function readCutEvent(head: string, tail: string) {
  return readCutMessage(head.replace(/^data: ?/, ''), tail);
}

class UnreadableEvent extends Error {
  override readonly message = 'it sent an event that is too large, or whose data has several lines';
}

/** Which ends a line of events, too. */
const RETURN = 0x0d;

/** The client would read the lines before the last one together, in a time that is the square of their length. Servers end all lines alike. */
function hasReturnWithin(line: readonly Buffer[]): boolean {
  const parts = line.filter(({ length }) => length > 0);
  const lengthOf = (index: number) => (parts[index]?.length ?? 0) - (index === parts.length - 1 ? 1 : 0);
  return parts.some((part, index) => {
    const at = part.indexOf(RETURN);
    return at !== -1 && at < lengthOf(index);
  });
}

/**
 * Events, each with a message on one line. A line that is too long is left out, and fails only the call that it answers. An event with several
 * lines of data ends the stream, unless they are empty: its message would be known as a whole only to the client, and so might have any number
 * of parts.
 */
function eventLimit(
  maxBytes: number,
  requestId: string | number | undefined,
  answered: (line: LineEnds) => Answered,
  onExcess: (excess: Excess, id: string | number) => void,
): Bytes {
  let eventLength = 0;
  let hasData = false;
  const reader = new LineReader(maxBytes + DATA.length, answered);
  const read = async (line: ReadLine, controller: TransformStreamDefaultController<Uint8Array>) => {
    let isReadable = true;
    if ('chunks' in line) {
      const bytes = [...line.chunks, LINE_END];
      const start = Buffer.concat(bytes, DATA.length + 2).toString();
      const isBlank = /^\r?\n/.test(start);
      const isData = /^data:(?! ?\r?\n)/.test(start);
      eventLength = isBlank ? 0 : bytes.reduce((length, part) => length + part.length, eventLength);
      isReadable = eventLength <= 2 * maxBytes && !(isData && hasData) && !hasReturnWithin(line.chunks);
      hasData = !isBlank && (isData || hasData);
      // A stream with IDs would be opened again after its end, although its call has failed then.
      const isLeftOut = requestId !== undefined && start.startsWith('id');
      if (isReadable && !isLeftOut) await inTurns(bytes, (part) => controller.enqueue(part));
    } else {
      const message = readCutEvent(line.head, line.tail);
      const id = message.kind === 'response' ? message.id : message.kind === 'unknown' ? requestId : undefined;
      if (id !== undefined) onExcess(line.excess, id);
      else isReadable = message.kind !== 'unknown';
    }
    if (!isReadable) throw new UnreadableEvent();
  };
  return new TransformStream({
    transform: (chunk, controller) =>
      inTurns(reader.linesOf(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)), (line) =>
        read(line, controller),
      ),
  });
}
