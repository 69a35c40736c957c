import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { type AskedRequest, apiId, toApiResponse } from './api-response.ts';
import { type ApiEvent, answerEvents, failureEvents, toSse, withUnknownEvents } from './api-stream.ts';
import type { Behaviour } from './behaviours.ts';

/** One request and the means to answer it. */
export interface Exchange {
  readonly request: AskedRequest;
  readonly response: ServerResponse;
  /** Aborts when the connection is gone. */
  readonly signal: AbortSignal;
  /** Resets the connection, without counting as an abort of the client. */
  reset(): void;
}

/**
 * Plays the behavior on the exchange. Settles when nothing is left to do, possibly before the client has its answer. A
 * stall is no timer: it only leaves the response open.
 */
export async function playBehaviour(behaviour: Behaviour, exchange: Exchange, bytesPerWrite?: number): Promise<void> {
  const { request, response } = exchange;
  const startBody = (status: number, contentType: string, headers: Readonly<Record<string, string>> = {}): void => {
    response.writeHead(status, {
      'content-type': contentType,
      'x-request-id': apiId('req', request.number),
      ...headers,
    });
  };
  const startStream = (): void => startBody(200, EVENT_STREAM);
  const write = (body: string | Buffer): Promise<void> => writeInSlices(response, Buffer.from(body), bytesPerWrite);
  const writeEvents = async (events: readonly ApiEvent[]): Promise<void> => {
    for (const event of events) await write(toSse(event));
  };
  const sendStream = async (events: readonly ApiEvent[]): Promise<void> => {
    startStream();
    await writeEvents(events);
    response.end();
  };
  const sendWhole = async (
    status: number,
    contentType: string,
    body: string | Buffer,
    headers?: Readonly<Record<string, string>>,
  ): Promise<void> => {
    startBody(status, contentType, headers);
    await write(body);
    response.end();
  };

  switch (behaviour.kind) {
    case 'answers':
      await delay(behaviour.options.delayMs, exchange.signal);
      return sendStream(answerEvents(behaviour, request));
    case 'answersJson':
      await delay(behaviour.options.delayMs, exchange.signal);
      return sendWhole(200, JSON_TYPE, JSON.stringify(toApiResponse(behaviour, request), null, 2));
    case 'sendsBody':
      return sendWhole(
        behaviour.status ?? 200,
        behaviour.contentType ?? EVENT_STREAM,
        behaviour.body,
        behaviour.headers,
      );
    case 'fails':
      return sendWhole(behaviour.status, JSON_TYPE, JSON.stringify({ error: behaviour.error }), behaviour.headers);
    case 'failsHtml':
      return sendWhole(behaviour.status, 'text/html', htmlPage(behaviour.status));
    case 'neverAnswers':
      return;
    case 'stallsAfterHeaders':
      startStream();
      response.flushHeaders();
      return;
    case 'stallsMidStream':
      startStream();
      return writeEvents(answerEvents(behaviour.of, request).slice(0, behaviour.afterEvents));
    case 'resetsBeforeHeaders':
      exchange.reset();
      return;
    case 'resetsDuringHeaders':
      await writeRaw(response, 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nX-Requ');
      exchange.reset();
      return;
    case 'resetsMidStream':
      startStream();
      await writeEvents(answerEvents(behaviour.of, request).slice(0, behaviour.afterEvents));
      exchange.reset();
      return;
    case 'cutsStream':
      return sendStream(answerEvents(behaviour.of, request).slice(0, behaviour.afterEvents));
    case 'failsInStream':
      return sendStream(failureEvents(behaviour, request));
    case 'sendsBrokenEvent': {
      const events = answerEvents(behaviour.of, request);
      startStream();
      await writeEvents(events.slice(0, behaviour.afterEvents));
      await write(`event: response.output_text.delta\ndata: ${behaviour.data}\n\n`);
      await writeEvents(events.slice(behaviour.afterEvents));
      response.end();
      return;
    }
    case 'sendsUnknownEvents':
      return sendStream(withUnknownEvents(answerEvents(behaviour.of, request)));
    case 'emptyBody':
      return sendStream([]);
    case 'sendsJson':
      return sendWhole(behaviour.status, JSON_TYPE, JSON.stringify(behaviour.value));
    case 'works':
      throw new Error('Only a fake API itself can work on a response.');
    case 'holds':
      return playBehaviour(await behaviour.released, exchange, bytesPerWrite);
    case 'inSlices':
      return playBehaviour(behaviour.behaviour, exchange, behaviour.bytesPerWrite);
  }
}

const EVENT_STREAM = 'text/event-stream; charset=utf-8';
const JSON_TYPE = 'application/json';

async function delay(delayMs: number | undefined, signal: AbortSignal): Promise<void> {
  if (delayMs !== undefined) await wait(delayMs, undefined, { signal });
}

async function writeInSlices(response: ServerResponse, body: Buffer, bytesPerWrite = body.length): Promise<void> {
  for (let start = 0; start < body.length; start += bytesPerWrite) {
    await writeFlushed(response, body.subarray(start, start + bytesPerWrite));
    // Without a pause TCP would join the slices again.
    if (bytesPerWrite < body.length) await nextTurn();
  }
}

function writeFlushed(response: ServerResponse, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    response.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}

function writeRaw({ socket }: ServerResponse, text: string): Promise<void> {
  return new Promise((resolve) => {
    if (socket === null) resolve();
    else socket.write(text, () => resolve());
  });
}

function htmlPage(status: number): string {
  return `<html>\r\n<head><title>${status}</title></head>\r\n<body><h1>${status} from a proxy</h1></body>\r\n</html>\r\n`;
}
