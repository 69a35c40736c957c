/** Patterns have a limit. */
const MAX_IN_PATTERN = 4096;

/**
 * Replaces each occurrence of some texts, the longest at each position. Shorter texts than `wholeBelow` are replaced only where no letter and
 * no digit adjoins.
 */
export function createReplacer(
  texts: readonly string[],
  replacement: string,
  wholeBelow: number,
): (text: string) => string {
  const longestFirst = [...texts].sort((a, b) => b.length - a.length);
  const long = longestFirst.filter(({ length }) => length > MAX_IN_PATTERN);
  const patterns = longestFirst.slice(long.length).map((one) => {
    const exact = one.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
    return one.length >= wholeBelow ? exact : `(?<![\\p{L}\\p{N}])${exact}(?![\\p{L}\\p{N}])`;
  });
  const pattern = patterns.length === 0 ? undefined : new RegExp(patterns.join('|'), 'gu');
  return (text) => {
    const left = long.reduce((left, one) => left.replaceAll(one, replacement), text);
    return pattern === undefined ? left : left.replace(pattern, replacement);
  };
}
