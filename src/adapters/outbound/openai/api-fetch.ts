import { Agent, type Dispatcher } from 'undici';
import { ApiExchange, type ApiResponse, RefusedResponse } from './api-exchange.ts';

/** A request of this program, or of the `openai` package. */
interface ApiRequest {
  readonly method?: Dispatcher.HttpMethod;
  readonly headers?: Headers | Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

/** The part of `fetch` that is used here and by the `openai` package. Leaves no listener on the signal after the body was read or left. */
export type ApiFetch = (url: string, request?: ApiRequest) => Promise<ApiResponse>;

/**
 * A `fetch` for the API over a dispatcher. Redirects are not followed: questions are for the configured API only. The deadline of the call ends
 * the wait for a silent API. `close` closes the connections.
 */
export function createApiFetch(dispatcher: Dispatcher = new Agent()) {
  const apiFetch: ApiFetch = (url, { method = 'GET', headers = {}, body = null, signal } = {}) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const { origin, pathname, search } = new URL(url);
      const onResponse = (response: ApiResponse) => {
        const refusal = refusalOf(response, url);
        if (refusal === undefined) return resolve(response);
        reject(refusal);
        void exchange.return();
      };
      const exchange = new ApiExchange(signal, onResponse, reject);
      const path = `${pathname}${search}`;
      dispatcher.dispatch({ origin, path, method, headers, body, headersTimeout: 0, bodyTimeout: 0 }, exchange);
    });
  return { fetch: apiFetch, close: () => dispatcher.destroy() };
}

function refusalOf({ status, headers }: ApiResponse, url: string): RefusedResponse | undefined {
  const location = headers.get('location');
  if (status < 300 || status >= 400 || location === null) return undefined;
  return new RefusedResponse(`it redirects to ${withoutQuery(location, url)}, which is not followed`);
}

/** A URL without its query and user, which may contain secrets. */
function withoutQuery(location: string, base: string): string {
  if (!URL.canParse(location, base)) return 'a malformed URL';
  const { protocol, host, pathname } = new URL(location, base);
  return `${protocol}//${host}${pathname}`;
}
