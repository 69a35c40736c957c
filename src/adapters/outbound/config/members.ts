import { isObject, type JsonObject } from '../../../domain/values/json.ts';
import { inCamelCase, type Tree, toTree } from './config-tree.ts';
import type { Member } from './key.ts';
import { type ReadContext, readValue, type ValueKind, yamlOnly } from './kinds.ts';
import { type MemberWords, unknownKey } from './member-words.ts';

/** A map whose keys are described by a table. */
export function membersOf<Table extends Readonly<Record<string, Member>>>(
  accepted: string,
  table: Table,
  words: MemberWords,
) {
  const schemas = Object.entries(table).map(([name, { kind }]) => [name, { anyOf: [kind.schema, { type: 'null' }] }]);
  const schema = { type: 'object', properties: Object.fromEntries(schemas), additionalProperties: false };
  const kind: ValueKind<Tree<Table>> = yamlOnly(accepted, schema, (value, context) =>
    isObject(value) ? readMembers(table, value, context, words) : undefined,
  );
  return kind;
}

/** Reads the members of a map by a table of its keys, with defaults. `null` counts as absent. Reports unknown keys, and values that are not accepted. */
export function readMembers<Table extends Readonly<Record<string, Member>>>(
  table: Table,
  map: JsonObject,
  context: ReadContext,
  words: MemberWords,
): Tree<Table> {
  const names = Object.keys(table);
  const pathOf = (name: string) => (context.where === '' ? name : `${context.where}.${name}`);
  for (const name of Object.keys(map)) {
    if (!names.includes(name)) context.report(pathOf(name), unknownKey(name, names, words));
  }
  const values = new Map<string, unknown>();
  for (const [name, { kind, default: fallback }] of Object.entries(table)) {
    const value = map[name] ?? undefined;
    const read = value === undefined ? undefined : readValue(kind, value, { ...context, where: pathOf(name) });
    if ((read ?? fallback) !== undefined) values.set(name, read ?? fallback);
  }
  return toTree(values, inCamelCase) as Tree<Table>;
}
