/** A host name, from what people write for one (`https://jma.go.jp/`, `JMA.go.jp.`); undefined if it is none. */
export function toHostName(text: string): string | undefined {
  const host = text
    .trim()
    .toLowerCase()
    .replace(/^[a-z][a-z0-9+.-]*:\/\//, '')
    .replace(/[/?#].*$/s, '')
    .replace(/:\d+$/, '')
    .replace(/\.$/, '');
  const isHostName = host.length <= 253 && host.split('.').every(isHostLabel);
  return isHostName ? host : undefined;
}

/** Letters of any script: a name such as `例え.jp` is one that people type. */
function isHostLabel(label: string): boolean {
  return /^(?!-)[\p{L}\p{M}\p{N}_-]{1,63}(?<!-)$/u.test(label);
}
