/**
 * The beginning of a text that is at most `max` UTF-16 units long, cut where a reader expects it: at a paragraph, else at
 * a line, else behind a sentence, as long as that keeps half of what fits.
 */
export function cutAtParagraph(text: string, max: number): string {
  if (text.length <= max) return text;
  const head = text.slice(0, Math.max(0, max)).replace(/[\uD800-\uDBFF]$/, '');
  for (const end of [head.lastIndexOf('\n\n'), head.lastIndexOf('\n'), endOfSentence(head)]) {
    if (end >= head.length / 2) return head.slice(0, end).trimEnd();
  }
  return head.trimEnd();
}

function endOfSentence(text: string): number {
  return Math.max(...[...text.matchAll(/[.!?](?=\s)|[。！？]/g)].map(({ index }) => index + 1), -1);
}
