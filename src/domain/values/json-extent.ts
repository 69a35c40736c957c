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
    if (Array.isArray(value)) {
      for (const item of value) {
        if (values > maxValues) return;
        visit(item, depth + 1);
      }
      return;
    }
    for (const [name, member] of Object.entries(value)) {
      characters += name.length;
      if (name.length > longestName) longestName = name.length;
      if (values > maxValues) return;
      visit(member, depth + 1);
    }
  };
  visit(value, 0);
  return { values, characters, longestName };
}
