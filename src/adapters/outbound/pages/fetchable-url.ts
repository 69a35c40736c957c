interface Permissions {
  readonly isPort: (port: string) => boolean;
  readonly isAllowedHost: (host: string) => boolean;
}

/** Whether a page may be fetched at all: http(s), usual ports, no user, and no host that names another network. */
export function isFetchable(url: string, { isPort, isAllowedHost }: Permissions): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, port, hostname, username, password } = new URL(url);
  return (
    /^https?:$/.test(protocol) &&
    isPort(port) &&
    `${username}${password}` === '' &&
    isAllowedHost(hostname.replace(/^\[|\]$/g, ''))
  );
}
