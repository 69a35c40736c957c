import { closest, distance } from 'fastest-levenshtein';

const MAX_TYPOS = 2;
/** Longer names are not compared: clients and servers choose them, and the time grows with the product of their lengths. */
const MAX_LENGTH = 100;
/** A shorter text would be a part of too many names. */
const SHORTEST_PART = 3;

/** The name that was probably meant: the nearest one if it has few other characters, or else the only one that contains the text. */
export function nearestName(text: string, names: readonly string[]): string | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const typed = text.toLowerCase();
  const near = names.filter(({ length }) => Math.abs(length - typed.length) <= MAX_TYPOS);
  const nearest = near.length === 0 ? undefined : closest(typed, near);
  if (nearest !== undefined && isNear(typed, nearest)) return nearest;
  const containing = typed.length < SHORTEST_PART ? [] : names.filter((name) => name.toLowerCase().includes(typed));
  return containing.length === 1 ? containing[0] : undefined;
}

/** Accepts fewer typos in short names, which often differ little and mean different things, unless only the order of the letters differs. */
function isNear(typed: string, name: string): boolean {
  const typos = distance(typed, name);
  const lettersOf = (text: string) => [...text].toSorted().join('');
  return typos <= MAX_TYPOS && (2 * typos < name.length || lettersOf(typed) === lettersOf(name));
}
