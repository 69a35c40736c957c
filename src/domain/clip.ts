/** A text of at most `max` UTF-16 code units; `…` shows that the rest is missing. */
export function clip(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
