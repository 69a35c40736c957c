import { EnvHttpProxyAgent, fetch as undiciFetch } from 'undici';

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
  const dispatcher = new EnvHttpProxyAgent({ httpProxy: http ?? '', httpsProxy: https ?? '', noProxy: bypass ?? '' });
  const proxied = (input: unknown, init?: object) =>
    undiciFetch(input as Parameters<typeof undiciFetch>[0], { ...init, dispatcher });
  return proxied as unknown as typeof fetch;
}
