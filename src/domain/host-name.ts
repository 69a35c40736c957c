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

/** Letters of any script, as in `例え.jp`. Not a literal, which takes time when the file is loaded. */
const LABEL = '^(?!-)[\\p{L}\\p{M}\\p{N}_-]{1,63}(?<!-)$';
