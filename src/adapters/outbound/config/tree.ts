/** A configuration as YAML holds it: sections of sections and values. */
export interface Tree {
  [key: string]: unknown;
}

export function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `over` on top of `base`: sections are merged deep, anything else is replaced, arrays too; undefined changes nothing (spec 5.1). */
export function mergeTrees(base: Tree, over: Tree): Tree {
  const merged: Tree = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const below = Object.hasOwn(merged, key) ? merged[key] : undefined;
    if (value !== undefined) set(merged, key, isTree(value) ? mergeTrees(isTree(below) ? below : {}, value) : value);
  }
  return merged;
}

/** The value at a dotted path, or undefined. */
export function valueAt(tree: unknown, path: string): unknown {
  let value = tree;
  for (const key of path.split('.')) value = isTree(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return value;
}

/** A tree that holds one value, at a dotted path. */
export function treeOf(path: string, value: unknown): Tree {
  return path.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as Tree;
}

/** A key may be called `__proto__` in a file; it is data like any other. */
function set(tree: Tree, key: string, value: unknown): void {
  Object.defineProperty(tree, key, { value, writable: true, enumerable: true, configurable: true });
}
