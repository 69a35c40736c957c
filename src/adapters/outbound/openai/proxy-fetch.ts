import { EnvHttpProxyAgent, fetch as undiciFetch } from 'undici';

/**
 * A `fetch` that goes through the proxies that HTTPS_PROXY, HTTP_PROXY and NO_PROXY name. It is undici's own, since Node's
 * takes no dispatcher of another major.
 */
export function createProxyFetch(): typeof fetch {
  const dispatcher = new EnvHttpProxyAgent();
  const proxied = (input: unknown, init?: object) =>
    undiciFetch(input as Parameters<typeof undiciFetch>[0], { ...init, dispatcher });
  return proxied as unknown as typeof fetch;
}
