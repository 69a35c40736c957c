/** Longer URLs are not for people, and would make the answer long. */
const MAX_LENGTH = 2048;

/** What no URL contains as it is, and would end one in a text, in Markdown or in HTML. */
const ENDS_URL = /[\s"<>\\`]|\](?=\()/g;

export function isWebUrl(text: string): boolean {
  return /^https?:\/\/[^\s/]/i.test(text);
}

/** A part of a URL without its escapes; undefined if one is malformed. */
export function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** A text without the user information of its URIs: it may be a password, and it looks like a host. */
export function withoutUserInfo(text: string): string {
  return text.replace(/(:[/\\]{2,9})[^\s/\\?#<>"]{1,500}@/g, '$1');
}

/** Schemes of URIs that contain data or code, or that start a program, and are not the address of a source. */
const UNUSABLE = /^(?:javascript|data|vbscript|blob|view-source|intent|ms-[a-z0-9+.-]*):/i;

/** Browsers ignore white space in a scheme. */
export function isUnusable(uri: string): boolean {
  return UNUSABLE.test(uri.replace(/[\s\p{Cc}]/gu, ''));
}

/**
 * An http(s) URL that can be shown and followed: as it was received, but for characters that would end it where it is shown, which are
 * encoded. Undefined for anything else, and for a URL with a user name, which looks like a host.
 */
export function toWebUrl(text: string): string | undefined {
  if (text.length > MAX_LENGTH || !isWebUrl(text)) return undefined;
  const url = text.replace(ENDS_URL, encodeURIComponent);
  if (!URL.canParse(url)) return undefined;
  if (!url.includes('@')) return url;
  const { username, password } = new URL(url);
  return username === '' && password === '' ? url : undefined;
}

/** Reads a host name, also from a URL (`https://jma.go.jp/`) or with a trailing dot; undefined if it is not a host name. */
export function toHostName(text: string): string | undefined {
  const host = text
    .trim()
    .toLowerCase()
    .replace(/^[a-z][a-z0-9+.-]*:\/\//, '')
    .replace(/[/?#].*$/s, '')
    .replace(/:\d+$/, '')
    .replace(/\.$/, '');
  const isHostName = host.length <= 253 && host.split('.').every((part) => LABEL.test(part));
  return isHostName ? host : undefined;
}

/** Letters of any script, as in `例え.jp`. */
const LABEL = /^(?!-)[\p{L}\p{M}\p{N}_-]{1,63}(?<!-)$/u;

/** Whether a URL, or a source without a scheme, is of one of these hosts or of a subdomain of one. */
export function isOnHost(url: string, hosts: readonly string[]): boolean {
  const [, named = url] = /^\s*https?:\/\/(?:[^\s/@]*@)?([^\s/:?#]+)/i.exec(url) ?? [];
  const host = named.toLowerCase().replace(/\.+$/, '');
  return hosts.some((name) => host === name || host.endsWith(`.${name}`));
}
