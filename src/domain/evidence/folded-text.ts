/** Folds a text for comparison, with the same length: half-width, lower case, one kind of space, dash and apostrophe. Superscripts become spaces. */
export function fold(text: string): string {
  return (
    text
      .replace(/[！-～]+/g, (wide) => wide.normalize('NFKC'))
      // The only character whose lower case is longer.
      .replaceAll('İ', 'i')
      .toLowerCase()
      .replace(/[^\S\n ]|[⁰-₉²³¹]/g, ' ')
      .replace(/[‐-―−〜~]/g, '-')
      .replace(/[‘’]/g, "'")
      .replace(/[○◯零]/g, '〇')
  );
}
