/** A URL without user info, which is a secret, or makes the address look like that of another host. */
export function withoutUser(url: string): string {
  return url.replace(/^([a-z][a-z\d+.-]*:[\\/]*)[^/?#\\]*@/i, '$1');
}

/** The URL of a web page, for a link; undefined if it is anything else, such as code. */
export function webHref(url: unknown): string | undefined {
  if (typeof url !== 'string') return undefined;
  const href = withoutUser(url);
  return /^https?:\/\//i.test(href) && URL.canParse(href) ? href : undefined;
}

export function hostOf(href: string): string {
  return new URL(href).host;
}
