import { isWrittenNumber } from './exact-number.ts';
import { isObject } from './json.ts';

/** A value of JSON as a text with sorted keys at every level: equal values have equal texts. `indent` is in spaces per level. */
export function sortedJson(value: unknown, indent = 0): string {
  const sorted = (_: string, member: unknown) => {
    if (!isObject(member) || isWrittenNumber(member)) return member;
    const names = Object.keys(member).sort();
    return Object.fromEntries(names.map((name) => [name, member[name]]));
  };
  return JSON.stringify(value, sorted, indent);
}

/** Whether two values of JSON are equal, whatever the order of their keys. */
export function isSameJson(one: unknown, other: unknown): boolean {
  return sortedJson(one) === sortedJson(other);
}
