import type { JsonObject } from '../../../domain/json.ts';
import { KEYS, type Key, type TABLE } from './keys.ts';
import type { ValueKind } from './kinds.ts';

/** Values by the dotted paths of their keys. The keys of a profile that was removed are null (ruling 11). */
export type Values = ReadonlyMap<string, unknown>;

/** The configuration without YAML, environment and command line. */
export const DEFAULTS: Values = new Map(
  KEYS.filter((key) => key.default !== undefined).map((key) => [key.path, key.default]),
);

/** The values of a table in its sections, by names like `maxResults` for `max_results`. What has no default may be absent. */
export type Tree<Table> = {
  readonly [Name in keyof Table as HasDefault<Table[Name]> extends true ? Camel<Name> : never]: Value<Table[Name]>;
} & {
  readonly [Name in keyof Table as HasDefault<Table[Name]> extends true ? never : Camel<Name>]?: Value<Table[Name]>;
};

/** The configuration as the program reads it. */
export type ConfigTree = Tree<typeof TABLE>;

/** What is read of a key: its value, or its default. */
export type ValueOf<Entry> = HasDefault<Entry> extends true ? Value<Entry> : Value<Entry> | undefined;

type Value<Entry> = Entry extends { readonly kind: ValueKind<infer T> } ? T : Tree<Entry>;

type Camel<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : Name;

/** Whether a key, or any key of a section, has a default. */
type HasDefault<Entry> = Entry extends Key
  ? Entry extends { readonly default: unknown }
    ? true
    : false
  : true extends { [Name in keyof Entry]: HasDefault<Entry[Name]> }[keyof Entry]
    ? true
    : false;

/** The values of the keys of a table. The profile `answer` is null if it was removed. */
export function toConfigTree(values: Values): ConfigTree {
  return toTree(values, inCamelCase) as ConfigTree;
}

function inCamelCase(name: string): string {
  return name.includes('_') ? name.replace(/_[a-z]/g, ([, letter = '']) => letter.toUpperCase()) : name;
}

/** Nested sections, as in YAML. A removed profile is null. */
export function toTree(values: Values, toName = (name: string) => name): JsonObject {
  const tree: Record<string, unknown> = {};
  for (const [path, value] of values) {
    const names = path.split('.').map(toName);
    const last = names.pop() ?? '';
    let section = tree;
    for (const name of value === null ? names.slice(0, -1) : names) {
      section[name] ??= {};
      section = section[name] as Record<string, unknown>;
    }
    if (value !== null) section[last] = value;
    else section[names.at(-1) ?? ''] ??= null;
  }
  return tree;
}
