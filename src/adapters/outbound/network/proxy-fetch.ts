import {
  Agent,
  type buildConnector,
  type Dispatcher,
  EnvHttpProxyAgent,
  Pool,
  ProxyAgent,
  fetch as undiciFetch,
} from 'undici';
import { isLoopbackUrl } from './addresses.ts';
import { type Environment, proxyOptions } from './environment.ts';

/**
 * A `fetch` through the proxies that the environment names. It is undici's, because Node's own accepts no dispatcher of another major version.
 * `close` closes the connections. With `limits`, responses may begin later than after the five minutes of undici.
 */
export function createProxyFetch(environment: Environment, limits: Agent.Options = {}) {
  const own = new Agent(limits);
  const proxied = new EnvHttpProxyAgent({ ...limits, ...proxyOptions(environment), factory: createPool });
  const proxiedFetch = (input: unknown, init: RequestInit = {}) => {
    const headers = new Headers(init.headers);
    // The user agent of the `fetch` of Node.js, which servers know.
    if (!headers.has('user-agent')) headers.set('user-agent', 'node');
    return undiciFetch(input as Parameters<typeof undiciFetch>[0], {
      ...(init as object),
      headers: Object.fromEntries(headers),
      dispatcher: isLoopbackUrl(String(input)) ? own : proxied,
    });
  };
  const close = async () => void (await Promise.all([own.destroy(), proxied.destroy()]));
  return { fetch: proxiedFetch as unknown as typeof fetch, close };
}

/** A dispatcher of requests through a proxy. */
export function createProxyAgent(proxy: string): Dispatcher {
  return new ProxyAgent({ uri: proxy, factory: createPool });
}

/** A pool that replaces the error of a proxy that hangs up on CONNECT: because of its code, undici would reconnect forever. */
function createPool(origin: string | URL, options: Pool.Options): Pool {
  const { connect } = options;
  if (typeof connect !== 'function') return new Pool(origin, options);
  const failing: buildConnector.connector = (target, callback) =>
    connect(target, (...[error, socket]) => {
      if (error === null) callback(null, socket);
      else callback('code' in error && error.code === 'UND_ERR_SOCKET' ? new Error('the proxy hung up') : error, null);
    });
  return new Pool(origin, { ...options, connect: failing });
}
