import { ExactNumber, isWrittenNumber, withExactNumbers } from './exact-number.ts';

/** A JSON object from outside the program: its members may be anything. */
export interface JsonObject {
  readonly [key: string]: unknown;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
}

/**
 * The value of a JSON text, which may begin with a byte order mark; undefined, which is no JSON value, if the text is not JSON. A number whose digits a
 * number of JavaScript would change is an `ExactNumber`.
 */
export function parseJson(text: string): unknown {
  const value = parseShortNumbers(text);
  return value === undefined ? undefined : withExactNumbers(text.trim(), value);
}

/** Like `parseJson`, for replies of the API: their numbers are short, and to look for long ones in each event takes time. */
export function parseShortNumbers(text: string): unknown {
  try {
    // Removes the mark, too, and blanks that JSON does not know.
    return JSON.parse(text.trim());
  } catch {
    return undefined;
  }
}

export type WithoutUndefined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Removes the members that are undefined. */
export function withoutUndefined<T extends object>(object: T): WithoutUndefined<T> {
  const defined = {} as Partial<T> & WithoutUndefined<T>;
  for (const name in object) if (object[name] !== undefined) (defined as T)[name] = object[name];
  return defined;
}

/** Default limit of the depth of JSON, because code that walks through a value needs stack. */
export const MAX_NESTING = 1000;

/** Whether a value of JSON nests more than `max` levels deep. */
export function isNestedDeeper(value: unknown, max: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return max === 0 || Object.values(value).some((member) => isNestedDeeper(member, max - 1));
}

/** The objects in a list; empty if the value is not a list. */
export function objectsOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export function asObject(value: unknown): JsonObject | undefined {
  return isObject(value) ? value : undefined;
}

/** A string that is not empty. */
export function asText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function asNumber(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

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
