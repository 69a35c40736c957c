import type { Ajv } from '@modelcontextprotocol/client/validators/ajv';
import { isObject, type JsonObject } from '../../../domain/values/json.ts';

type Definition = Exclude<Parameters<InstanceType<typeof Ajv>['addKeyword']>[0], string>;
type Compile = NonNullable<Extract<Definition, { compile?: unknown }>['compile']>;
type Check = ReturnType<Compile>;

/** Maximum depth to which references to schemas are followed, because they may form a circle. */
const MAX_REFERENCES = 10;

/**
 * The keyword `required`, except for members whose schema has a default: zod declares them as required, because its output always has them,
 * but accepts inputs without them.
 */
export const requiredWithoutDefault: Compile = (names: readonly string[], parent, { schemaEnv }): Check => {
  const members: unknown = parent.properties;
  const schemaOf = (name: string) => (isObject(members) && Object.hasOwn(members, name) ? members[name] : undefined);
  const required = names.filter((name) => !hasDefault(schemaOf(name), schemaEnv.root.schema, MAX_REFERENCES));
  const check: Check = (value: object) => {
    const missing = required.find((name) => !Object.hasOwn(value, name));
    if (missing === undefined) return true;
    check.errors = [{ keyword: 'required', params: { missingProperty: missing }, message: 'is required' }];
    return false;
  };
  return check;
};

function hasDefault(schema: unknown, root: unknown, left: number): boolean {
  if (!isObject(schema) || left === 0) return false;
  if (schema.default !== undefined) return true;
  return partsOf(schema, root).some((part) => hasDefault(part, root, left - 1));
}

/** The schemas that also apply to the value of a schema. */
function partsOf({ $ref, allOf, anyOf, oneOf }: JsonObject, root: unknown): readonly unknown[] {
  const referred = typeof $ref === 'string' && $ref.startsWith('#/') ? [atPointer(root, $ref.slice(2))] : [];
  return [...referred, ...[allOf, anyOf, oneOf].flat()];
}

function atPointer(root: unknown, pointer: string): unknown {
  const names = decodeURIComponent(pointer).split('/');
  return names.reduce<unknown>((at, name) => {
    const member = name.replaceAll('~1', '/').replaceAll('~0', '~');
    return isObject(at) && Object.hasOwn(at, member) ? at[member] : undefined;
  }, root);
}
