import { isObject, type JsonObject } from '../../../domain/json.ts';

/** A configuration as YAML has it: nested sections of values. */
export type Tree = JsonObject;

/** `over` on top of `base`: sections are merged, everything else (arrays too) is replaced, undefined changes nothing (spec 5.1). */
export function mergeTrees(base: Tree, over: Tree): Tree {
  const merged = new Map(Object.entries(base));
  for (const [key, value] of Object.entries(over)) {
    const below = merged.get(key);
    if (value !== undefined) merged.set(key, isObject(value) ? mergeTrees(isObject(below) ? below : {}, value) : value);
  }
  // Unlike an assignment, this treats a key that is named `__proto__` as data.
  return Object.fromEntries(merged);
}

/** The value at a dotted path, or undefined. */
export function valueAt(tree: unknown, path: string): unknown {
  let value = tree;
  for (const key of path.split('.')) value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return value;
}

/** A tree with one value at a dotted path. */
export function treeOf(path: string, value: unknown): Tree {
  return path.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as Tree;
}

/** A section with its keys in camel case. `T` is not checked here: every key was validated before. */
export function toCamelCase<T>(section: unknown): T {
  const entries = Object.entries(isObject(section) ? section : {});
  const toName = (key: string) => key.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(entries.map(([key, value]) => [toName(key), value])) as T;
}
