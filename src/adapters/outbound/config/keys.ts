import { ANSWER_KEYS } from './answer-keys.ts';
import { SERVING_KEYS } from './serving-keys.ts';
import { defaultsOf, inCamelCase, isKey, type Key, type Section, type Tree, toTree, type Values } from './table.ts';

/** Every key. A key that is not listed is a problem. */
export const TABLE = { ...ANSWER_KEYS, ...SERVING_KEYS } satisfies Section;

/** The configuration as the program reads it: the keys in their sections. */
export type ConfigTree = Tree<typeof TABLE>;

/** The keys with their paths, dotted as in YAML, in the order of the table. */
export const KEYS: readonly (Key & { readonly path: string })[] = keysOf(TABLE, '');

function keysOf(section: Section, prefix: string): (Key & { readonly path: string })[] {
  return Object.entries(section).flatMap(([name, entry]) => {
    const path = prefix + name;
    return isKey(entry) ? { path, ...entry } : keysOf(entry, `${path}.`);
  });
}

/** The configuration without YAML, environment and command line. */
export const DEFAULTS = defaultsOf(KEYS.map((key) => [key.path, key]));

/** The environment variables that set a key. */
export const KEY_VARIABLES: readonly string[] = [...new Set(KEYS.flatMap(({ variable }) => variable ?? []))];

/** The values by sections, with the names that the program uses. The profile `answer` is null if it was removed. */
export function toConfigTree(values: Values): ConfigTree {
  return toTree(values, inCamelCase) as ConfigTree;
}
