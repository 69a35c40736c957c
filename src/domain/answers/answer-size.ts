/** The beginning of a text, cut at a paragraph, line or sentence if that keeps half of `max` (UTF-16 units). */
export function cutAtParagraph(text: string, max: number): string {
  if (text.length <= max) return text;
  const head = text.slice(0, Math.max(0, max)).replace(/[\uD800-\uDBFF]$/, '');
  for (const end of [head.lastIndexOf('\n\n'), head.lastIndexOf('\n'), endOfSentence(head)]) {
    if (end >= head.length / 2) return head.slice(0, end).trimEnd();
  }
  return head.trimEnd();
}

function endOfSentence(text: string): number {
  const last = [...text.matchAll(/[.!?](?=\s)|[。！？]/g)].at(-1);
  return last === undefined ? -1 : last.index + 1;
}
