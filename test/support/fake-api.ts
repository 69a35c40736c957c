import { EventEmitter, once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import type { JsonObject } from './api-response.ts';
import { BackgroundResponses, unknownResponse } from './background-responses.ts';
import { type Behaviour, fails, replyOf, sendsJson } from './behaviours.ts';

/** A request, recorded as soon as its body was read. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The body as JSON; empty if it is not a JSON object (see `rawBody`). */
  readonly body: JsonObject;
  readonly rawBody: string;
  /** True as soon as the client has closed before the response ended. */
  readonly aborted: boolean;
}

/** A fake of the OpenAI API on a local port, which other processes can use too. */
export interface FakeApi {
  /** The base URL: `http://127.0.0.1:PORT/v1`. */
  readonly url: string;
  /** Every request, also to unknown paths, in order. */
  readonly requests: readonly RecordedRequest[];
  /** Queues behaviors: each request takes the next. */
  reply(...behaviours: readonly Behaviour[]): void;
  /** The behavior for requests when the queue is empty. Without it they fail with a 400 that says so. */
  replyAlways(behaviour: Behaviour): void;
  /** The same, chosen per request. */
  replyWith(decide: (request: RecordedRequest) => Behaviour | Promise<Behaviour>): void;
  /**
   * Queues behaviors of looks (`GET /v1/responses/ID`). Without any, a look shows the response as it is: one that a behavior of the test cut,
   * stalled or holds back works until it is ended or cancelled; an ID that was never sent is a 404.
   */
  replyToLooks(...behaviours: readonly Behaviour[]): void;
  /** Completes every response that still works. */
  endResponses(): void;
  /** Not suited to detect an aborted request: undici then opens a new connection, idle, for 4 seconds. */
  openConnections(): number;
  /** Requests whose response has neither ended nor lost its connection. */
  openResponses(): number;
  /** Waits, without polling, until a condition on this object is true. */
  until(condition: () => boolean): Promise<void>;
  /** Waits until there were `count` requests in total. */
  waitForRequests(count: number): Promise<void>;
  /** Waits until the client aborts the request at `index`; rejects if that was answered completely. */
  waitForAbort(index: number): Promise<void>;
  /** Destroys every connection and frees the port. */
  close(): Promise<void>;
}

/** Starts a server for `POST /v1/responses` and what belongs to background responses; any other path is a 404 in the form of the API. */
export async function startFakeApi({ always = NOTHING_TO_REPLY } = {}): Promise<FakeApi> {
  const changes = new EventEmitter().setMaxListeners(0);
  const changed = (): boolean => changes.emit('change');
  const requests: WritableRequest[] = [];
  const open = new Set<WritableRequest>();
  const sockets = new Set<Socket>();
  const queue: Behaviour[] = [];
  const looks: Behaviour[] = [];
  const responses = new BackgroundResponses();
  let decide: (request: RecordedRequest) => Behaviour | Promise<Behaviour> = () => always;
  let closing = false;

  const server = createServer({ requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 0 }, (incoming, response) => {
    void answer(incoming, response);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    // Accepted just before the port was freed.
    if (closing) socket.destroy();
    socket.once('close', () => {
      sockets.delete(socket);
      changed();
    });
  });

  /** What the API does with a request. */
  const behaviourFor = async (request: RecordedRequest): Promise<Behaviour> => {
    const { method, path } = request;
    const call = `${method} ${path}`;
    if (call === 'POST /v1/responses') return queue.shift() ?? decide(request);
    const background = responses.at(path);
    if (/^POST \/v1\/responses\/\w+\/cancel$/.test(call)) return background?.cancel() ?? sendsJson({});
    if (/^GET \/v1\/responses\/\w+/.test(call)) return looks.shift() ?? background?.look(path) ?? unknownResponse(path);
    return fails({ status: 404, error: { message: `Invalid URL (${call})` } });
  };

  const answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const connection = new AbortController();
    let resetByUs = false;
    try {
      const request = await readRequest(incoming);
      const asked = { body: request.body, number: requests.push(request) };
      open.add(request);
      response.once('close', () => {
        if (!response.writableFinished && !resetByUs && !closing) request.aborted = true;
        request.answered = !request.aborted;
        open.delete(request);
        connection.abort();
        changed();
      });
      changed();
      let behaviour = await behaviourFor(request);
      const isStart =
        request.path === '/v1/responses' && (request.body.background === true || behaviour.kind === 'works');
      const started = isStart ? responses.start(behaviour, asked) : undefined;
      if (behaviour.kind === 'works') return await started?.stream(response);
      while (behaviour.kind === 'holds') behaviour = await behaviour.released;
      if (behaviour.kind === 'works')
        throw new Error('A behavior that is held back cannot become a background response.');
      if (behaviour.kind === 'answers' && behaviour.delayMs !== undefined)
        await wait(behaviour.delayMs, undefined, { signal: connection.signal });
      const { status = 200, contentType = EVENTS, headers, body, end } = replyOf(behaviour, asked);
      if (body !== undefined) {
        response.writeHead(status, { 'content-type': contentType, ...headers }).flushHeaders();
        // A reset discards what was not yet sent.
        if (body.length > 0) await new Promise((resolve) => response.write(body, resolve));
      }
      resetByUs = end === 'resets';
      if (resetByUs) incoming.socket.resetAndDestroy();
      else if (end !== 'stalls') response.end();
    } catch (error) {
      // A closed connection is no error: `aborted` reports it.
      if (!response.headersSent && !response.destroyed) response.writeHead(400).end(String(error));
    }
  };

  const until = (condition: () => boolean): Promise<void> =>
    new Promise((resolve, reject) => {
      const check = (): void => {
        try {
          if (!condition()) return;
          resolve();
        } catch (error) {
          reject(error);
        }
        changes.off('change', check);
      };
      changes.on('change', check);
      check();
    });

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    url: `http://127.0.0.1:${portOf(server)}/v1`,
    requests,
    reply: (...behaviours) => void queue.push(...behaviours),
    replyAlways: (behaviour) => {
      decide = () => behaviour;
    },
    replyWith: (decision) => {
      decide = decision;
    },
    replyToLooks: (...behaviours) => void looks.push(...behaviours),
    endResponses: () => responses.end(),
    openConnections: () => sockets.size,
    openResponses: () => open.size,
    until,
    waitForRequests: (count) => until(() => requests.length >= count),
    waitForAbort: (index) =>
      until(() => {
        const request = requests[index];
        if (request?.answered === true) throw new Error(`Request ${index} was answered in full, not aborted.`);
        return request?.aborted === true;
      }),
    close: async () => {
      if (!server.listening) return;
      closing = true;
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await Promise.all([closed, until(() => sockets.size === 0)]);
    },
  };
}

interface WritableRequest extends RecordedRequest {
  aborted: boolean;
  answered: boolean;
}

const EVENTS = 'text/event-stream; charset=utf-8';
const NOTHING_TO_REPLY = fails({
  status: 400,
  error: { message: 'The fake API received more requests than the test configured replies.' },
});

async function readRequest(incoming: IncomingMessage): Promise<WritableRequest> {
  const rawBody = await text(incoming);
  return {
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    headers: incoming.headers,
    body: parseObject(rawBody),
    rawBody,
    aborted: false,
    answered: false,
  };
}

function parseObject(rawBody: string): JsonObject {
  try {
    const value: unknown = JSON.parse(rawBody);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The fake API has no port.');
  return address.port;
}
