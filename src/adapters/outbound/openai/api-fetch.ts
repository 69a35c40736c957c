import { Agent, type Dispatcher, fetch as undiciFetch } from 'undici';

/** A response that is not read to its end. The message completes "The response could not be read: ...". */
export class RefusedResponse extends Error {}

/**
 * A `fetch` for the API over a dispatcher. It is undici's, because Node's own accepts no dispatcher of another major version. Redirects are not
 * followed: questions are for the configured API only. The deadline of the call ends the wait for a silent API. `close` closes the connections.
 */
export function createApiFetch(dispatcher: Dispatcher = new Agent()) {
  const patient = dispatcher.compose(
    (dispatch) => (options, handler) => dispatch({ ...options, headersTimeout: 0, bodyTimeout: 0 }, handler),
  );
  const apiFetch = async (url: string, init: RequestInit): Promise<unknown> => {
    const response = await undiciFetch(url, { ...(init as object), dispatcher: patient, redirect: 'manual' });
    const location = response.headers.get('location');
    if (response.status < 300 || response.status >= 400 || location === null) return response;
    await response.body?.cancel();
    throw new RefusedResponse(`it redirects to ${withoutQuery(location, url)}, which is not followed`);
  };
  return { fetch: apiFetch as unknown as typeof fetch, close: () => dispatcher.destroy() };
}

/** A URL without its query and user, which may contain secrets. */
function withoutQuery(location: string, base: string): string {
  if (!URL.canParse(location, base)) return 'a malformed URL';
  const { protocol, host, pathname } = new URL(location, base);
  return `${protocol}//${host}${pathname}`;
}
