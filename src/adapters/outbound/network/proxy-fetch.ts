import { Agent, buildConnector, type Dispatcher, Pool, ProxyAgent, fetch as undiciFetch } from 'undici';
import { readInTurns } from './read-in-turns.ts';

const CONNECT_MS = 10_000;

/**
 * A `fetch` through a proxy, if one is given. It is undici's, because Node's own accepts no dispatcher of another major version. `close` closes
 * the connections.
 */
export function createProxyFetch(proxy: string | undefined) {
  const dispatcher = proxy === undefined ? createAgent() : createProxyAgent(proxy);
  const proxied = (input: unknown, init: RequestInit = {}) => {
    const headers = new Headers(init.headers);
    // As that of Node.js, to which servers are used.
    if (!headers.has('user-agent')) headers.set('user-agent', 'node');
    return undiciFetch(input as Parameters<typeof undiciFetch>[0], {
      ...(init as object),
      headers: Object.fromEntries(headers),
      dispatcher,
    });
  };
  return { fetch: proxied as unknown as typeof fetch, close: () => dispatcher.destroy() };
}

function createAgent(): Dispatcher {
  const { connector, interceptor } = readInTurns();
  return new Agent({ connect: connector(buildConnector({ timeout: CONNECT_MS })) }).compose(interceptor);
}

/** A dispatcher of requests through a proxy. */
export function createProxyAgent(proxy: string): Dispatcher {
  const { connector, interceptor } = readInTurns();
  const factory = (origin: URL, options: object) => new Pool(origin, withConnector(options, connector));
  return new ProxyAgent({ uri: proxy, factory }).compose(interceptor);
}

/** If a proxy hangs up on CONNECT, undici would connect again without end, because of the code of the error. */
function withConnector(options: Pool.Options, connector: ReturnType<typeof readInTurns>['connector']): Pool.Options {
  const { connect } = options;
  if (typeof connect !== 'function') return options;
  const failing: buildConnector.connector = (target, callback) =>
    connect(target, (...[error, socket]) => {
      if (error === null) callback(null, socket);
      else callback('code' in error && error.code === 'UND_ERR_SOCKET' ? new Error('the proxy hung up') : error, null);
    });
  return { ...options, connect: connector(failing) };
}
