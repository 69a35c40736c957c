import { Agent, type Dispatcher, Pool, ProxyAgent, fetch as undiciFetch } from 'undici';

/**
 * A `fetch` through a proxy, if one is given. It is undici's, because Node's own accepts no dispatcher of another major version. `close` closes
 * the connections.
 */
export function createProxyFetch(
  proxy: string | undefined,
  ...interceptors: Dispatcher.DispatcherComposeInterceptor[]
) {
  const dispatcher = (proxy === undefined ? new Agent() : createProxyAgent(proxy)).compose(interceptors);
  const proxied = (input: unknown, init?: object) =>
    undiciFetch(input as Parameters<typeof undiciFetch>[0], { ...init, dispatcher });
  return { fetch: proxied as unknown as typeof fetch, close: () => dispatcher.destroy() };
}

/** A dispatcher of requests through a proxy. */
export function createProxyAgent(proxy: string): ProxyAgent {
  return new ProxyAgent({
    uri: proxy,
    factory: (origin, options) => new Pool(origin, withFailingConnect(options as Pool.Options)),
  });
}

/** If a proxy hangs up on CONNECT, undici would connect again without end, because of the code of the error. */
function withFailingConnect(options: Pool.Options): Pool.Options {
  const { connect } = options;
  if (typeof connect !== 'function') return options;
  return {
    ...options,
    connect: (target, callback) =>
      connect(target, (...[error, socket]) => {
        if (error === null) callback(null, socket);
        else
          callback('code' in error && error.code === 'UND_ERR_SOCKET' ? new Error('the proxy hung up') : error, null);
      }),
  };
}
