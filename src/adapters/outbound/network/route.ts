/** The host of the API, and the proxy on the way to it, for people. */
export function routeTo(baseUrl: string, proxy: string | undefined): string {
  const { host } = new URL(baseUrl);
  return proxy === undefined ? host : `${host} via the proxy ${new URL(proxy).host}`;
}
