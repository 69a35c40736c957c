import { closest, distance } from 'fastest-levenshtein';

/** A text that differs more from a name is probably another name, not a mistyped one. */
export const MAX_TYPOS = 2;

/** The name that is most similar to a text; undefined if every name has more than `maxTypos` differences. */
export function nearest(
  text: string,
  names: readonly string[],
  maxTypos = Number.POSITIVE_INFINITY,
): string | undefined {
  const near = names.filter(({ length }) => Math.abs(length - text.length) <= maxTypos);
  const name = near.length === 0 ? undefined : closest(text, near);
  return name !== undefined && distance(text, name) <= maxTypos ? name : undefined;
}
