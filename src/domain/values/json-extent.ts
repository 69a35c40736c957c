import { MAX_NESTING } from './json-nesting.ts';

/**
 * The number of values of which a JSON value consists, of the characters of its texts and names, and of those of its longest name. Counting ends soon above `maxValues`.
 * Infinitely many values if it nests more deeply than `maxDepth`: by default, than messages may.
 */
export function jsonExtent(value: unknown, maxValues: number, maxDepth = MAX_NESTING) {
  let values = 0;
  let characters = 0;
  let longestName = 0;
  const visit = (value: unknown, depth: number): void => {
    values += depth > maxDepth ? Number.POSITIVE_INFINITY : 1;
    if (typeof value === 'string') characters += value.length;
    if (typeof value !== 'object' || value === null) return;
    const names = Array.isArray(value) ? undefined : Object.keys(value);
    for (const { length } of names ?? []) {
      characters += length;
      if (length > longestName) longestName = length;
    }
    for (const member of Array.isArray(value) ? value : Object.values(value)) {
      if (values > maxValues) return;
      visit(member, depth + 1);
    }
  };
  visit(value, 0);
  return { values, characters, longestName };
}
