/** The numbers of the rules of docs/spec.md, in their order. */
export function rulesOf(spec: string): readonly string[] {
  return [...spec.matchAll(/^- \*\*(S\d+)\.\*\* /gm)].map(([, rule = '']) => rule);
}

/** The rules that a file cites: in a comment of its own line (`// S12, S13`), or in parentheses (`(S12)`). */
export function citedIn(text: string): readonly string[] {
  const lists = text.matchAll(/^\s*\/\/ (S\d+(?:, S\d+)*)$|\((S\d+(?:, S\d+)*)\)/gm);
  return [...lists].flatMap(([, comment, parentheses]) => (comment ?? parentheses ?? '').split(', '));
}
