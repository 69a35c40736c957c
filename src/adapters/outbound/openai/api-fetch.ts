/** Bytes of a body, and characters of an event of a stream. Far beyond any answer, and what a small machine can hold. */
export const MAX_LENGTH = 16 * 1024 * 1024;

export const TOO_LARGE = 'it is larger than 16 MiB';

/** A response that is not read to its end. The message completes "The response could not be read: ...". */
export class RefusedResponse extends Error {}

/**
 * A `fetch` for the API: it follows no redirect, because questions are for the configured API only, and limits the size of each body after
 * decompression. Of an event stream, the reader limits each event.
 */
export function apiFetch(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, { ...init, redirect: 'manual' });
    const { status, statusText, headers, body } = response;
    const location = headers.get('location');
    if (status >= 300 && status < 400 && location !== null) {
      await body?.cancel();
      throw new RefusedResponse(`it redirects to ${withoutQuery(location, response.url)}, which is not followed`);
    }
    if (body === null || isEventStream(headers)) return response;
    return new Response(body.pipeThrough(limit()), { status, statusText, headers });
  };
}

export function isEventStream(headers: Headers): boolean {
  return /^\s*text\/event-stream/i.test(headers.get('content-type') ?? '');
}

function limit(): TransformStream<Uint8Array, Uint8Array> {
  let length = 0;
  return new TransformStream({
    transform(chunk, controller) {
      length += chunk.length;
      if (length <= MAX_LENGTH) controller.enqueue(chunk);
      else controller.error(new RefusedResponse(TOO_LARGE));
    },
  });
}

/** The query and the user of a URL may contain secrets. */
function withoutQuery(location: string, base: string): string {
  if (!URL.canParse(location, base)) return 'a malformed URL';
  const { protocol, host, pathname } = new URL(location, base);
  return `${protocol}//${host}${pathname}`;
}
