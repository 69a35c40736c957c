/** Reads a host name, also from a URL (`https://jma.go.jp/`) or with a trailing dot; undefined if it is not a host name. */
export function toHostName(text: string): string | undefined {
  const host = text
    .trim()
    .toLowerCase()
    .replace(/^[a-z][a-z0-9+.-]*:\/\//, '')
    .replace(/[/?#].*$/s, '')
    .replace(/:\d+$/, '')
    .replace(/\.$/, '');
  const isHostName = host.length <= 253 && host.split('.').every(isLabel);
  return isHostName ? host : undefined;
}

/** Letters of any script are accepted, as in `例え.jp`. The pattern is created when it is needed: that takes time at the start. */
function isLabel(label: string): boolean {
  return /^(?!-)[\p{L}\p{M}\p{N}_-]{1,63}(?<!-)$/u.test(label);
}
