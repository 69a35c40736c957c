import { withoutEnd } from './clean-text.ts';

/** Maximum length of a URL in an answer. Longer URLs are not for people. */
const MAX_LENGTH = 2048;

/** Characters that would end a URL in a text, in Markdown or in HTML, and must be encoded. */
const ENDS_URL = /[\s"<>\\`]|\](?=\()/g;

export function isTooLong(url: string): boolean {
  return url.length > MAX_LENGTH;
}

export function isWebUrl(text: string): boolean {
  return /^https?:\/\/[^\s/]/i.test(text);
}

/** Decodes a part of a URL; undefined if an escape is malformed. */
export function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Removes the user information of URIs in a text, because it may be a password, and can look like a host. */
export function withoutUserInfo(text: string): string {
  return text.replace(/(:[/\\]{2,9})[^\s/\\?#<>"]{1,500}@/g, '$1');
}

/** Schemes of URIs that contain data or code, or start a program. They are not addresses of sources. */
const UNUSABLE = /^(?:javascript|data|vbscript|blob|view-source|intent|ms-[a-z0-9+.-]*):/i;

/** Browsers ignore white space in a scheme. */
export function isUnusable(uri: string): boolean {
  return UNUSABLE.test(uri.replace(/[\s\u0000-\u001F\u007F-\u009F]/g, ''));
}

/**
 * An http(s) URL that can be shown and followed. Characters that would end it where it is shown are encoded. Undefined for anything else, and for a URL
 * with a user name, which can look like a host.
 */
export function toWebUrl(text: string): string | undefined {
  if (isTooLong(text) || !isWebUrl(text)) return undefined;
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
  const label = new RegExp(LABEL, 'u');
  const isHostName = host.length <= 253 && host.split('.').every((part) => label.test(part));
  return isHostName ? host : undefined;
}

/** Letters of any script, as in `例え.jp`. A text, because a literal is read with its file, and the tables of Unicode would delay the start. */
const LABEL = String.raw`^(?!-)[\p{L}\p{M}\p{N}_-]{1,63}(?<!-)$`;

/** Whether a URL, or a source without a scheme, is of one of these hosts or of a subdomain of one. */
export function isOnHost(url: string, hosts: readonly string[]): boolean {
  const [, named = url] = /^\s*https?:\/\/(?:[^\s/@]*@)?([^\s/:?#]+)/i.exec(url) ?? [];
  const host = withoutEnd(named.toLowerCase(), /\./);
  return hosts.some((name) => host === name || host.endsWith(`.${name}`));
}
