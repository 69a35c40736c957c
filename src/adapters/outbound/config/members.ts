import type { JsonObject } from '../../../domain/values/json.ts';
import { inCamelCase, type Tree, toTree } from './config-tree.ts';
import type { Key } from './keys.ts';
import { type ReadContext, readValue } from './kinds.ts';
import { nearest } from './nearest.ts';

/** The members of a map by a table of their keys, with the defaults. `null` is absent. Reports what is not accepted, and unknown keys. */
export function readMembers<Table extends Readonly<Record<string, Key>>>(
  table: Table,
  map: JsonObject,
  context: ReadContext,
): Tree<Table> {
  const names = Object.keys(table);
  const pathOf = (name: string) => (context.where === '' ? name : `${context.where}.${name}`);
  for (const name of Object.keys(map)) {
    if (!names.includes(name)) context.report(pathOf(name), `unknown key; did you mean ${nearest(name, names)}?`);
  }
  const values = new Map<string, unknown>();
  for (const [name, { kind, default: fallback }] of Object.entries(table)) {
    const value = map[name] ?? undefined;
    const read = value === undefined ? undefined : readValue(kind, value, { ...context, where: pathOf(name) });
    if ((read ?? fallback) !== undefined) values.set(name, read ?? fallback);
  }
  return toTree(values, inCamelCase) as Tree<Table>;
}
