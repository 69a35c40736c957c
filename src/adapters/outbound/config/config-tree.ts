import type { JsonObject, WithoutUndefined } from '../../../domain/values/json.ts';
import { KEYS, type TABLE } from './keys.ts';
import type { ValueKind } from './kinds.ts';

/** Values by the dotted paths of their keys. A profile that was removed is null. */
export type Values = ReadonlyMap<string, unknown>;

/** The configuration without YAML, environment and command line. */
export const DEFAULTS: Values = new Map(
  KEYS.filter((key) => key.default !== undefined).map((key) => [key.path, key.default]),
);

/** The environment variables that set a key. */
export const KEY_VARIABLES: readonly string[] = [...new Set(KEYS.flatMap(({ variable }) => variable ?? []))];

/** The values of a table in its sections, by names like `maxResults` for `max_results`. A key without a default may be absent. */
export type Tree<Table> = WithoutUndefined<{ readonly [Name in keyof Table as Camel<Name>]: Value<Table[Name]> }>;

/** The configuration as the program reads it. */
export type ConfigTree = Tree<typeof TABLE>;

/** The type of a key or a section. A section may be absent if none of its keys has a default. */
type Value<Entry> = Entry extends { readonly kind: ValueKind<infer T> }
  ? T | (Entry extends { readonly default: unknown } ? never : undefined)
  : Tree<Entry> | (Partial<Tree<Entry>> extends Tree<Entry> ? undefined : never);

type Camel<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : Name;

/** The values by sections, with the names that the program uses. The profile `answer` is null if it was removed. */
export function toConfigTree(values: Values): ConfigTree {
  return toTree(values, inCamelCase) as ConfigTree;
}

/** Converts `max_results` to `maxResults`. */
export function inCamelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Nests values in sections, as in YAML. If a section is null, a later key of this section replaces the null. */
export function toTree(values: Values, toName = (name: string) => name): JsonObject {
  const tree: Record<string, unknown> = {};
  for (const [path, value] of values) {
    let section = tree;
    const names = path.split('.').map(toName);
    for (const name of names.slice(0, -1)) {
      section[name] ??= {};
      section = section[name] as typeof tree;
    }
    section[names.at(-1) ?? ''] = value;
  }
  return tree;
}
