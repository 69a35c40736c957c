import { isObject, type JsonObject } from '../values/json.ts';
import { targetOf } from '../values/json-pointer.ts';

/** The depth to which references and alternatives of a schema are followed, which may form a circle. */
const MAX_DEPTH = 16;

/** Whether the member of an object with this schema (JSON Schema) may be a text. A member that the schema does not describe may be anything. */
export function mayBeText(schema: JsonObject, member: string): boolean {
  return new Members(schema, member).mayBeText(schema, 0) ?? true;
}

class Members {
  readonly #root: JsonObject;
  readonly #member: string;

  constructor(root: JsonObject, member: string) {
    this.#root = root;
    this.#member = member;
  }

  /** Undefined if the schema of the object does not describe the member. */
  mayBeText(schema: unknown, depth: number): boolean | undefined {
    if (!isObject(schema) || depth > MAX_DEPTH) return undefined;
    const { properties, additionalProperties } = schema;
    const isNamed = isObject(properties) && Object.hasOwn(properties, this.#member);
    const parts = [
      isNamed ? this.#isText(properties[this.#member], depth) : undefined,
      ...this.#combined(schema, (branch) => this.mayBeText(branch, depth + 1)),
    ].filter((part) => part !== undefined);
    if (parts.length > 0) return parts.every(Boolean);
    return isObject(additionalProperties) ? this.#isText(additionalProperties, depth) : undefined;
  }

  /** Whether a text may match the schema of a value. */
  #isText(schema: unknown, depth: number): boolean {
    if (!isObject(schema) || depth > MAX_DEPTH) return schema !== false;
    const { type, enum: choices } = schema;
    const isString = (value: unknown) => typeof value === 'string';
    const isAmong = (names: unknown) => type === undefined || [names].flat().includes('string');
    return (
      isAmong(type) &&
      (!Array.isArray(choices) || choices.some(isString)) &&
      (schema.const === undefined || isString(schema.const)) &&
      this.#combined(schema, (branch) => this.#isText(branch, depth + 1)).every((part) => part !== false)
    );
  }

  /** What the branches of a schema say: each of `allOf` and of a reference, and any of `anyOf` and of `oneOf`. */
  #combined(schema: JsonObject, of: (branch: unknown) => boolean | undefined): readonly (boolean | undefined)[] {
    const { $ref, allOf, anyOf, oneOf } = schema;
    const anyIn = (branches: unknown) => {
      const found = Array.isArray(branches) ? branches.map(of).filter((one) => one !== undefined) : [];
      return found.length === 0 ? undefined : found.some(Boolean);
    };
    return [
      ...(Array.isArray(allOf) ? allOf.map(of) : []),
      anyIn(anyOf),
      anyIn(oneOf),
      typeof $ref === 'string' ? of(targetOf($ref, this.#root)) : undefined,
    ];
  }
}
