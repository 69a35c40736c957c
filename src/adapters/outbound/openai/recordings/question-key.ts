/** A key that is the same for questions that differ only in Unicode form, case, whitespace, closing punctuation, or dates with the commas beside them. */
export function questionKey(query: string): string {
  return (
    query
      .normalize('NFKC')
      .toLowerCase()
      .replace(/[\s\u3000]+/g, '')
      .replace(/[,、]?\d{4}-\d{2}-\d{2}[,、]?/g, '')
      // The lookbehind keeps this linear: a run of marks is tried only from its start.
      .replace(/(?<![?!.。、，,…])[?!.。、，,…]+$/u, '')
  );
}
