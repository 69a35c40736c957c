/** Letters of any script are accepted, as in `例え.jp`. */
const LABEL = /^(?!-)[\p{L}\p{M}\p{N}_-]{1,63}(?<!-)$/u;

/** Reads a host name, also from a URL (`https://jma.go.jp/`) or with a trailing dot; undefined if it is not a host name. */
export function toHostName(text: string): string | undefined {
  const host = text
    .trim()
    .toLowerCase()
    .replace(/^[a-z][a-z0-9+.-]*:\/\//, '')
    .replace(/[/?#].*$/s, '')
    .replace(/:\d+$/, '')
    .replace(/\.$/, '');
  const isHostName = host.length <= 253 && host.split('.').every((label) => LABEL.test(label));
  return isHostName ? host : undefined;
}
