import { never } from '../../../application/async/deadline.ts';

/** What requests to a server have of its configuration. */
export interface RequestValues {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface RenewedFetchOptions {
  readonly fetch: typeof fetch;
  /** What the requests of the transport have. */
  readonly configured: RequestValues;
  /** Reads the values once more. Undefined if they are the same, or cannot be read. */
  readonly renew: (signal: AbortSignal) => Promise<RequestValues | undefined>;
}

/**
 * A `fetch` that reads the values of the configuration once more after a 401 of the server, and sends the request once more if they have changed.
 * A 401 refuses a request, so that nothing is done twice.
 */
export function renewedFetch({ fetch, configured, renew }: RenewedFetchOptions): typeof globalThis.fetch {
  let current = configured;
  return async (input, init) => {
    const url = String(input instanceof Request ? input.url : input);
    const isToServer = new URL(url).origin === new URL(configured.url).origin;
    const send = (values: RequestValues) =>
      values === configured
        ? fetch(input, init)
        : fetch(url === configured.url ? values.url : input, withHeaders(init, values));
    const sent = current;
    const response = await send(sent);
    if (response.status !== 401 || !isToServer) return response;
    // Another request may have found the new values in the meantime.
    const renewed = current === sent ? await renew(init?.signal ?? never()) : current;
    if (renewed === undefined) return response;
    current = renewed;
    void response.body?.cancel().catch(() => {});
    return send(current);
  };

  /** The request with the current values of the configured headers. */
  function withHeaders(init: RequestInit | undefined, values: RequestValues): RequestInit {
    const headers = new Headers(init?.headers);
    for (const [name, text] of Object.entries(values.headers)) if (headers.has(name)) headers.set(name, text);
    return { ...init, headers };
  }
}
