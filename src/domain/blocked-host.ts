/** Whether a text contains a URL of one of these hosts or of a subdomain of one, or, without any URL, the name of one. */
export function namesBlockedHost(text: string, blocked: readonly string[]): boolean {
  if (blocked.length === 0) return false;
  const urls = [...text.matchAll(/https?:\/\/(?:[^\s/@]*@)?([^\s/:?#()[\]<>"']+)/gi)];
  // Models also list `example.com/page` as a source.
  const names = urls.length > 0 ? urls : [...text.matchAll(/([\p{L}\p{M}\p{N}_.-]+)/gu)];
  const hosts = names.map(([, host = '']) => host.toLowerCase().replace(/\.+$/, ''));
  return hosts.some((host) => blocked.some((name) => host === name || host.endsWith(`.${name}`)));
}
