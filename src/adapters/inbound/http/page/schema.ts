import { isObject, type JsonObject } from '../../../../domain/values/json.ts';
import { decoded } from '../../../../domain/values/web-url.ts';

/** A schema whose local references, nullable types and lists of constants are resolved. */
export interface SimpleSchema {
  /** Undefined if there are several, or none is given. */
  readonly type: string | undefined;
  /** The only possible values. */
  readonly values: readonly unknown[] | undefined;
  /** The titles of the values, in the same order. */
  readonly names: readonly unknown[];
  /** The alternative schemas of the value. */
  readonly options: readonly unknown[];
  /** The other members, as the server wrote them. */
  readonly members: JsonObject;
}

/** Maximum depth of the resolution. A schema may nest deeper, or refer to itself. */
const MAX_DEPTH = 8;

export function simplified(schema: unknown, root: JsonObject, depth = 0): SimpleSchema {
  if (!isObject(schema) || depth > MAX_DEPTH) return ANYTHING;
  const { $ref, anyOf, oneOf, allOf, ...members } = schema;
  const merged = (other: unknown) => simplified({ ...(isObject(other) ? other : {}), ...members }, root, depth + 1);
  if (typeof $ref === 'string') return merged(targetOf($ref, root));
  const options = [anyOf, oneOf, allOf].find(Array.isArray)?.filter((option) => option?.type !== 'null') ?? [];
  if (options.length === 1) return merged(options[0]);
  if (options.length > 0 && options.every((option) => isObject(option) && 'const' in option)) {
    const values = options.map((option) => option.const);
    return { ...ANYTHING, values, names: options.map(({ title }) => title), members };
  }
  const types = [members.type].flat().filter((type) => type !== 'null');
  const [type] = types.length === 1 && options.length === 0 ? types : [];
  const values = 'const' in members ? [members.const] : members.enum;
  return {
    type: typeof type === 'string' ? type : undefined,
    values: Array.isArray(values) ? values : undefined,
    names: [],
    options: options.length > 0 ? options : types.map((type) => ({ ...members, type })),
    members,
  };
}

const ANYTHING: SimpleSchema = { type: undefined, values: undefined, names: [], options: [], members: {} };

/** The part of a schema to which a JSON pointer refers. */
function targetOf(ref: string, root: JsonObject): unknown {
  let target: unknown = ref.startsWith('#') ? root : undefined;
  for (const part of ref.split('/').slice(1)) {
    const name = (decoded(part) ?? part).replaceAll('~1', '/').replaceAll('~0', '~');
    target = isObject(target) && Object.hasOwn(target, name) ? target[name] : undefined;
  }
  return target;
}

/** The names of the properties that a schema requires. */
export function requiredBy({ required }: JsonObject): readonly unknown[] {
  return Array.isArray(required) ? required : [];
}
