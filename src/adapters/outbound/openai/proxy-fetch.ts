import { EnvHttpProxyAgent, Pool, fetch as undiciFetch } from 'undici';

/** The proxies for each kind of address, and the hosts that need none, as `NO_PROXY` lists them. */
export interface ProxyOptions {
  readonly http?: string;
  readonly https?: string;
  readonly bypass?: string;
}

/**
 * A `fetch` that goes through proxies. It is undici's own, since Node's takes no dispatcher of another major. Nothing is left
 * to the agent's own reading of the environment, to which an empty variable hides a filled one.
 */
export function createProxyFetch({ http, https, bypass }: ProxyOptions): typeof fetch {
  const dispatcher = new EnvHttpProxyAgent({
    httpProxy: http ?? '',
    httpsProxy: https ?? '',
    noProxy: bypass ?? '',
    factory: (origin, options) => new Pool(origin, withFailingConnect(options as Pool.Options)),
  });
  const proxied = (input: unknown, init?: object) =>
    undiciFetch(input as Parameters<typeof undiciFetch>[0], { ...init, dispatcher });
  return proxied as unknown as typeof fetch;
}

/**
 * A proxy that hangs up on CONNECT must fail the request. undici takes such an error, by its code, for that of a connection that
 * was in use, and connects again without end.
 */
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
