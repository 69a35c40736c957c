/** Longer URLs are not for people, and would make the answer long. */
const MAX_LENGTH = 2048;

/** What no URL contains as it is, and would end one in a text, in Markdown or in HTML. */
const ENDS_URL = /[\s"<>\\`]|\](?=\()/g;

export function isWebUrl(text: string): boolean {
  return /^https?:\/\/[^\s/]/i.test(text);
}

/**
 * An http(s) URL that can be shown and followed: as it was received, but for characters that would end it where it is shown, which are
 * encoded. Undefined for anything else, and for a URL with a user name, which looks like a host.
 */
export function toWebUrl(text: string): string | undefined {
  if (text.length > MAX_LENGTH || !isWebUrl(text)) return undefined;
  const url = text.replace(ENDS_URL, encodeURIComponent);
  if (!URL.canParse(url)) return undefined;
  const { username, password } = new URL(url);
  return username === '' && password === '' ? url : undefined;
}
