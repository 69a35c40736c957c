// Replaces `undici` in the bundle: only what src imports from it. Its index also loads mocks, caches, interceptors, WebSocket and
// EventSource, which are a third of the size.
import api from 'undici/lib/api/index.js';
import buildConnector from 'undici/lib/core/connect.js';
import Agent from 'undici/lib/dispatcher/agent.js';
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import ProxyAgent from 'undici/lib/dispatcher/proxy-agent.js';
import headers from 'undici/lib/web/fetch/headers.js';
import fetching from 'undici/lib/web/fetch/index.js';

// As in its index: ProxyAgent calls `connect`.
Object.assign(Dispatcher.prototype, api);

export const { fetch } = fetching;
export const { Headers } = headers;
export { Agent, buildConnector, Pool, ProxyAgent };
