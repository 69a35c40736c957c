/** The same for questions that differ only in form, case, whitespace, closing punctuation, or dates (ruling 22). A date beside a comma may also be absent: `today, 2026-01-05`. */
export function questionKey(query: string): string {
  return keyOf(query, '');
}

/** Whether two questions have one key, or would without the commas beside their dates. */
export function isSameQuestion(one: string, other: string): boolean {
  return ['', DATE].some((dated) => keyOf(one, dated) === keyOf(other, dated));
}

const DATE = '<date>';

/** `dated`: what replaces a date and the commas beside it. */
function keyOf(query: string, dated: string): string {
  return (
    query
      .normalize('NFKC')
      .toLowerCase()
      .replace(/[\s\u3000]+/g, '')
      .replace(/[,、]\d{4}-\d{2}-\d{2}[,、]?|\d{4}-\d{2}-\d{2}[,、]/g, dated)
      .replace(/\d{4}-\d{2}-\d{2}/g, DATE)
      // The lookbehind keeps this linear: a run of marks is tried only from its start.
      .replace(/(?<![?!.。、，,…])[?!.。、，,…]+$/u, '')
  );
}
