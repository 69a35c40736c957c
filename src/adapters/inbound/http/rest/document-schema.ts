import { isObject, type JsonObject } from '../../../../domain/values/json.ts';

/** A schema to which references without a base lead: the complete schema, or a part with an `$id`. */
interface Resource {
  /** Its place in the document: a fragment such as `#/components/schemas/x`. */
  readonly pointer: string;
  readonly schema: JsonObject;
  readonly anchors: Map<string, string>;
}

/** Members that contain schemas by names that mean nothing. */
const MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies']);
/** Members that contain values. */
const VALUES = new Set(['const', 'enum', 'default', 'examples', 'example']);
const IDENTIFIERS = new Set(['$id', '$schema', '$anchor', '$dynamicAnchor']);
const REFERENCES = new Set(['$ref', '$dynamicRef', '$recursiveRef']);

/**
 * A schema as a part of the document at `pointer`. References within the schema (`#/$defs/x`, an anchor, an `$id`) lead to the same
 * place there. Those that lead nowhere or to another document are removed, because programs refuse a document with such a reference;
 * and so are identifiers, which would change where references lead. All else stays as it is.
 */
export function toDocumentSchema(schema: JsonObject, pointer: string): JsonObject {
  const root: Resource = { pointer, schema, anchors: new Map() };
  const byId = new Map<string, Resource>();
  const byPointer = new Map([[pointer, root]]);

  const collect = (part: unknown, at: string, within: Resource): void => {
    let resource = within;
    if (isObject(part)) {
      const isNested = typeof part.$id === 'string' && at !== pointer;
      if (isNested) resource = { pointer: at, schema: part, anchors: new Map() };
      byPointer.set(resource.pointer, resource);
      if (typeof part.$id === 'string') byId.set(part.$id.replace(/#$/, ''), resource);
      for (const anchor of [part.$anchor, part.$dynamicAnchor]) {
        if (typeof anchor === 'string') resource.anchors.set(anchor, at);
      }
    }
    mapSchemas(part, at, (inner, innerAt) => collect(inner, innerAt, resource));
  };

  const resolve = (reference: string, from: Resource): string | undefined => {
    const [id = '', fragment = ''] = reference.split('#');
    const resource = id === '' ? from : byId.get(id);
    if (resource === undefined || fragment === '') return resource?.pointer;
    if (!fragment.startsWith('/')) return resource.anchors.get(fragment);
    const keys = fragment.split('/').slice(1).map(toKey);
    return isSchemaAt(resource.schema, keys) ? [resource.pointer, ...keys.map(toToken)].join('/') : undefined;
  };

  const convert = (part: unknown, at: string, within: Resource): unknown => {
    const resource = byPointer.get(at) ?? within;
    const converted = mapSchemas(part, at, (inner, innerAt) => convert(inner, innerAt, resource));
    if (!isObject(converted)) return converted;
    let target: string | undefined;
    const members = Object.entries(converted).filter(([key, value]) => {
      if (typeof value !== 'string') return true;
      if (REFERENCES.has(key)) target ??= resolve(value, resource);
      return !REFERENCES.has(key) && !IDENTIFIERS.has(key);
    });
    return withReference(Object.fromEntries(members), target);
  };

  collect(schema, pointer, root);
  return convert(schema, pointer, root) as JsonObject;
}

/** A copy of a schema, or of a list of schemas, in which each schema directly within it is converted; `at` is its place. */
function mapSchemas(part: unknown, at: string, convert: (inner: unknown, at: string) => unknown): unknown {
  if (Array.isArray(part)) return part.map((entry, index) => convert(entry, `${at}/${index}`));
  if (!isObject(part)) return part;
  return mapMembers(part, at, (value, inner, key) => {
    if (VALUES.has(key)) return value;
    return MAPS.has(key) && isObject(value) ? mapMembers(value, inner, convert) : convert(value, inner);
  });
}

function mapMembers(object: JsonObject, at: string, convert: (value: unknown, at: string, key: string) => unknown) {
  const members = Object.entries(object).map(([key, value]) => [key, convert(value, `${at}/${toToken(key)}`, key)]);
  return Object.fromEntries(members) as JsonObject;
}

/** Many programs ignore what is beside a reference, so that references within it would lead nowhere. */
function withReference(schema: JsonObject, target: string | undefined): JsonObject {
  if (target === undefined) return schema;
  const hasParts = Object.values(schema).some((value) => typeof value === 'object' && value !== null);
  if (!hasParts) return { $ref: target, ...schema };
  return { ...schema, allOf: [...(Array.isArray(schema.allOf) ? schema.allOf : []), { $ref: target }] };
}

function isSchemaAt(schema: JsonObject, keys: readonly string[]): boolean {
  let part: unknown = schema;
  for (const key of keys) {
    if (typeof part !== 'object' || part === null || !Object.hasOwn(part, key)) return false;
    part = (part as JsonObject)[key];
  }
  return isObject(part) || typeof part === 'boolean';
}

/** A key as a part of a JSON pointer in a fragment (RFC 6901, 6). */
function toToken(key: string): string {
  return encodeURI(key.toWellFormed().replaceAll('~', '~0').replaceAll('/', '~1')).replaceAll('#', '%23');
}

/** The reverse. A malformed escape is what it looks like. */
function toKey(token: string): string {
  let decoded = token;
  try {
    decoded = decodeURIComponent(token);
  } catch {}
  return decoded.replaceAll('~1', '/').replaceAll('~0', '~');
}
