import type { JsonObject } from '../../../domain/values/json.ts';
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

/** `max_results` as `maxResults`. */
export function inCamelCase(name: string): string {
  if (!name.includes('_')) return name;
  const [first = '', ...others] = name.split('_');
  return others.reduce((camel, word) => `${camel}${word.charAt(0).toUpperCase()}${word.slice(1)}`, first);
}

/** Nested sections, as in YAML. A removed profile is null. */
export function toTree(values: Values, toName = (name: string) => name): JsonObject {
  // The start takes noticeably longer if each path is taken apart.
  const sections = new Map<string, Record<string, unknown>>([['', {}]]);
  const sectionOf = (path: string): Record<string, unknown> => {
    const known = sections.get(path);
    if (known !== undefined) return known;
    const section = {};
    sections.set(path, section);
    sectionOf(parentOf(path))[toName(nameOf(path))] = section;
    return section;
  };
  for (const [path, value] of values) {
    const parent = parentOf(path);
    if (value !== null) sectionOf(parent)[toName(nameOf(path))] = value;
    else sectionOf(parentOf(parent))[toName(nameOf(parent))] ??= null;
  }
  return sectionOf('');
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('.')));
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1);
}
