import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { type AskedRequest, apiId } from './api-response.ts';
import { type Behaviour, replyOf } from './behaviours.ts';

/** One request and the means to answer it. */
interface Exchange {
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
export async function playBehaviour(behaviour: Behaviour, exchange: Exchange): Promise<void> {
  const { request, response, signal, reset } = exchange;
  if (behaviour.kind === 'holds') return playBehaviour(await behaviour.released, exchange);
  if (behaviour.kind === 'works') throw new Error('Only a fake API itself can work on a response.');
  const delayMs = behaviour.kind === 'answers' ? behaviour.options.delayMs : undefined;
  if (delayMs !== undefined) await wait(delayMs, undefined, { signal });
  const { status = 200, contentType, headers, body, raw, bytesPerWrite, end } = replyOf(behaviour, request);
  if (raw !== undefined) await new Promise<void>((resolve) => response.socket?.write(raw, () => resolve()));
  if (body !== undefined) {
    response.writeHead(status, {
      'content-type': contentType ?? 'text/event-stream; charset=utf-8',
      'x-request-id': apiId('req', request.number),
      ...headers,
    });
    response.flushHeaders();
    await writeInSlices(response, Buffer.from(body), bytesPerWrite);
  }
  if (end === 'resets') reset();
  else if (end !== 'stalls') response.end();
}

async function writeInSlices(response: ServerResponse, body: Buffer, bytesPerWrite = body.length): Promise<void> {
  for (let start = 0; start < body.length; start += bytesPerWrite) {
    await new Promise<void>((resolve, reject) => {
      response.write(body.subarray(start, start + bytesPerWrite), (error) => (error ? reject(error) : resolve()));
    });
    // Without a pause TCP would join the slices again.
    if (bytesPerWrite < body.length) await nextTurn();
  }
}
