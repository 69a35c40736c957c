import { closest, distance } from 'fastest-levenshtein';

/** A name with more differences is probably another name, and not a mistyped one. */
export const MAX_TYPOS = 2;

/** The name that resembles a text most; undefined if none has at most `maxTypos` differences. */
export function nearest(
  text: string,
  names: readonly string[],
  maxTypos = Number.POSITIVE_INFINITY,
): string | undefined {
  const near = names.filter(({ length }) => Math.abs(length - text.length) <= maxTypos);
  const name = near.length === 0 ? undefined : closest(text, near);
  return name !== undefined && distance(text, name) <= maxTypos ? name : undefined;
}
