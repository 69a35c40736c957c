import { isObject, type JsonObject } from '../../../domain/json.ts';
import { shownName } from './environment.ts';
import { KEYS, type Values } from './keys.ts';
import { toKind } from './layers.ts';
import { shownStore } from './quota-config.ts';

/** The merged keys for display. The redactor masks secrets that were set in a wrong place. */
export function toShownTree(values: Values): JsonObject {
  const shown = new Map(values);
  for (const { path, kind } of KEYS) {
    if (toKind(kind).namesSecret && values.has(path)) shown.set(path, shownNames(values.get(path)));
  }
  shown.set('http.quota.store', shownStore(String(values.get('http.quota.store'))));
  return toTree(shown);
}

function shownNames(value: unknown): unknown {
  if (!isObject(value)) return shownName(String(value));
  return Object.fromEntries(Object.entries(value).map(([caller, name]) => [caller, shownName(String(name))]));
}

/** Nested sections, as in YAML. A removed profile is null. */
export function toTree(values: Values): JsonObject {
  const tree: Record<string, unknown> = {};
  for (const [path, value] of values) {
    const keys = path.split('.');
    const last = keys.pop() ?? '';
    let section = tree;
    for (const key of value === null ? keys.slice(0, -1) : keys) {
      section[key] ??= {};
      section = section[key] as Record<string, unknown>;
    }
    if (value !== null) section[last] = value;
    else section[keys.at(-1) ?? ''] ??= null;
  }
  return tree;
}
