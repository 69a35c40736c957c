/**
 * A pattern that is made at its first use. For patterns of the start with properties of Unicode, such as `\p{L}`: a literal is read with its file, and to
 * read the tables of a property takes as long as hundreds of lines.
 */
export function patternWhenUsed(source: string, flags: string): () => RegExp {
  let pattern: RegExp | undefined;
  return () => {
    pattern ??= new RegExp(source, flags);
    return pattern;
  };
}
