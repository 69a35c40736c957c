import type { Environment } from './environment.ts';
import { readProxy } from './proxies.ts';
import type { createProxyFetch } from './proxy-fetch.ts';

/** A `fetch` per server, through the proxy that the environment names for its URL (ruling G22). */
export class ProxyFetches {
  readonly #environment: Environment;
  readonly #proxied = new Map<string, ReturnType<typeof createProxyFetch>>();

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  async fetchFor(url: string): Promise<typeof fetch> {
    const { proxy } = readProxy(this.#environment, url);
    if (proxy === undefined) return fetch;
    const { createProxyFetch } = await import('./proxy-fetch.ts');
    const known = this.#proxied.get(proxy) ?? createProxyFetch(proxy);
    this.#proxied.set(proxy, known);
    return known.fetch;
  }

  /** Finds the proxy for each request. */
  readonly fetch: typeof fetch = async (url, init) => (await this.fetchFor(String(url)))(url, init);

  async close(): Promise<void> {
    for (const proxied of this.#proxied.values()) await proxied.close();
  }
}
