import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { isObject, parseJson } from '../../../domain/json.ts';
import { errorResponse, LOST, TOO_LARGE } from './substitute-response.ts';

interface RemoteFetchOptions {
  readonly fetch: typeof fetch;
  /** Maximum size of a response to one request. */
  readonly maxBytes: number;
  /** Delivers a message in place of a response that cannot be read. The client ignores it if it already has the response. */
  readonly deliver: (message: JSONRPCMessage) => void;
  /** A stream of server messages (GET) has ended. */
  readonly onStreamEnd: () => void;
}

/**
 * A `fetch` for the official client's HTTP transports, which would otherwise read a response of any size, and wait until the timeout for a
 * response whose connection was lost.
 */
export function remoteFetch({ fetch, maxBytes, deliver, onStreamEnd }: RemoteFetchOptions): typeof globalThis.fetch {
  return async (url, init) => {
    const response = await fetch(url, init);
    const { body } = response;
    if (body === null || !response.ok) return response;
    const request = typeof init?.body === 'string' ? parseJson(init.body) : undefined;
    const id = isObject(request) && 'method' in request ? (request.id as string | number | undefined) : undefined;
    const isStream = init?.method !== 'POST';
    let length = 0;
    const bounded = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        length += chunk.length;
        if (isStream || length <= maxBytes) {
          controller.enqueue(chunk);
          return;
        }
        if (id !== undefined) deliver(errorResponse(id, TOO_LARGE, `a response of more than ${maxBytes} bytes`));
        controller.error(new Error('the response is too large'));
      },
    });
    const onEnd = () => {
      // The reader must get the last chunk first.
      setTimeout(() => {
        if (isStream) onStreamEnd();
        else if (id !== undefined) deliver(errorResponse(id, LOST, 'the connection was closed before the response'));
      }, 0);
    };
    body.pipeTo(bounded.writable, init?.signal ? { signal: init.signal } : {}).then(onEnd, onEnd);
    return new Response(bounded.readable, response);
  };
}
