import { isObject } from './json.ts';

/** A value of JSON as a text with sorted keys at every level: equal values have equal texts. `indent` is in spaces per level. */
export function sortedJson(value: unknown, indent = 0, depth = 1): string {
  const isList = Array.isArray(value);
  if (!isList && !isObject(value)) return JSON.stringify(value);
  const toText = (member: unknown) => sortedJson(member, indent, depth + 1);
  const separator = indent > 0 ? ': ' : ':';
  // An object always has the names that are numbers first.
  const names = isList ? [] : Object.keys(value).filter((name) => value[name] !== undefined);
  const members = isList
    ? value.map(toText)
    : names.sort().map((name) => `${JSON.stringify(name)}${separator}${toText(value[name])}`);
  const [open, close] = isList ? '[]' : '{}';
  const line = (levels: number) => (indent > 0 && members.length > 0 ? `\n${' '.repeat(indent * levels)}` : '');
  return `${open}${line(depth)}${members.join(`,${line(depth)}`)}${line(depth - 1)}${close}`;
}

/** Whether two values of JSON are equal, whatever the order of their keys. */
export function isSameJson(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((member, index) => isSameJson(member, other[index]));
  if (!isObject(one) || !isObject(other)) return one === other;
  const keys = Object.keys(one);
  const isSame = (key: string) => Object.hasOwn(other, key) && isSameJson(one[key], other[key]);
  return keys.length === Object.keys(other).length && keys.every(isSame);
}
