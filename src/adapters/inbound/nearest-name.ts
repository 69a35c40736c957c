import { closest, distance } from 'fastest-levenshtein';

const MAX_TYPOS = 2;
/** Longer names are not compared: both may be texts of others, and the time grows with the product of their lengths. */
const MAX_LENGTH = 100;
/** A shorter part says too little. */
const SHORTEST_PART = 3;

/** The name that was probably meant: one with a few other characters, or else the only one of which the text is a part. */
export function nearestName(text: string, names: readonly string[]): string | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const typed = text.toLowerCase();
  const near = names.filter(({ length }) => Math.abs(length - typed.length) <= MAX_TYPOS);
  const nearest = near.length === 0 ? undefined : closest(typed, near);
  if (nearest !== undefined && isNear(typed, nearest)) return nearest;
  const containing = typed.length < SHORTEST_PART ? [] : names.filter((name) => name.toLowerCase().includes(typed));
  return containing.length === 1 ? containing[0] : undefined;
}

/** Short names have others near them that mean something else, unless the letters are the same. */
function isNear(typed: string, name: string): boolean {
  const typos = distance(typed, name);
  const lettersOf = (text: string) => [...text].toSorted().join('');
  return typos <= MAX_TYPOS && (2 * typos < name.length || lettersOf(typed) === lettersOf(name));
}
