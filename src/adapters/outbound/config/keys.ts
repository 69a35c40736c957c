import { ANSWER_KEYS } from './answer-keys.ts';
import type { Key, Section } from './key.ts';
import { SERVING_KEYS } from './serving-keys.ts';

/** Every key. A key that is not listed is a problem. */
export const TABLE = { ...ANSWER_KEYS, ...SERVING_KEYS } satisfies Section;

/** The keys with their paths, dotted as in YAML, in the order of the table. */
export const KEYS: readonly (Key & { readonly path: string })[] = keysOf(TABLE, '');

function keysOf(section: Section, prefix: string): (Key & { readonly path: string })[] {
  return Object.entries(section).flatMap(([name, entry]) => {
    const path = prefix + name;
    return isKey(entry) ? { path, ...entry } : keysOf(entry, `${path}.`);
  });
}

export function isKey(entry: Key | Section): entry is Key {
  return 'kind' in entry;
}
