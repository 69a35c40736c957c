/** Whether a text contains a URL of one of these hosts or of a subdomain of one. */
export function namesBlockedHost(text: string, blocked: readonly string[]): boolean {
  if (blocked.length === 0) return false;
  const hosts = [...text.matchAll(/https?:\/\/(?:[^\s/@]*@)?([^\s/:?#()[\]<>"']+)/gi)].map(([, host = '']) =>
    host.toLowerCase().replace(/\.$/, ''),
  );
  return hosts.some((host) => blocked.some((name) => host === name || host.endsWith(`.${name}`)));
}
