import { isObject, type JsonObject } from '../../../../domain/values/json.ts';
import { decoded } from '../../../../domain/values/web-url.ts';

/** A schema to which references without a base lead: the complete schema, or a part with an `$id`. */
interface Resource {
  readonly id: string;
  /** Its place in the document: a fragment such as `#/components/schemas/x`. */
  readonly pointer: string;
}

/** Members that contain schemas by names that mean nothing. */
const MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies']);
/** Members that contain values. */
const VALUES = new Set(['const', 'enum', 'default', 'examples', 'example']);
const IDENTIFIERS = new Set(['$id', '$schema', '$anchor', '$dynamicAnchor']);
/** Of the places of all parts of a schema: with long names and many levels, they would fill the memory. */
const MAX_PLACE_CHARACTERS = 8 * 1024 * 1024;
const REFERENCES = new Set(['$ref', '$dynamicRef', '$recursiveRef']);

/**
 * A schema as a part of the document at `pointer`. References within the schema (`#/$defs/x`, an anchor, an `$id`) lead to the same
 * place there. Those that lead nowhere or to another document are removed, because programs refuse a document with such a reference;
 * and so are identifiers, which would change where references lead. All else stays as it is. A schema with too many levels or too long places becomes `{}`.
 */
export function toDocumentSchema(schema: JsonObject, pointer: string): JsonObject {
  const root: Resource = { id: '', pointer };
  /** The place of each schema in the document, by the references that lead to it. */
  const places = new Map<string, string>();

  let characters = 0;
  const collect = (part: unknown, at: string, within: Resource): void => {
    characters += at.length;
    if (characters > MAX_PLACE_CHARACTERS) throw new RangeError('too long places');
    const resource = resourceOf(part, at, within);
    if (isObject(part) || typeof part === 'boolean') {
      for (const { id, pointer } of [within, resource]) places.set(`${id}#${at.slice(pointer.length)}`, at);
    }
    for (const anchor of isObject(part) ? [part.$anchor, part.$dynamicAnchor] : []) {
      if (typeof anchor === 'string') places.set(`${resource.id}#${anchor}`, at);
    }
    mapSchemas(part, at, (inner, innerAt) => collect(inner, innerAt, resource));
  };

  const resolve = (reference: string, { id }: Resource): string | undefined => {
    const [base, fragment = ''] = reference.split('#');
    const tokens = fragment.split('/').map((token) => toToken(toKey(token)));
    return places.get(`${base || id}#${tokens.join('/')}`);
  };

  const convert = (part: unknown, at: string, within: Resource): unknown => {
    const resource = resourceOf(part, at, within);
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

  try {
    collect(schema, pointer, root);
    return convert(schema, pointer, root) as JsonObject;
  } catch (error) {
    // Also that of a stack that is full.
    if (error instanceof RangeError) return {};
    throw error;
  }
}

function resourceOf(part: unknown, at: string, within: Resource): Resource {
  return isObject(part) && typeof part.$id === 'string' ? { id: part.$id.replace(/#$/, ''), pointer: at } : within;
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

/** A key as a part of a JSON pointer in a fragment (RFC 6901, 6). */
function toToken(key: string): string {
  return encodeURI(key.toWellFormed().replaceAll('~', '~0').replaceAll('/', '~1')).replaceAll('#', '%23');
}

/** The reverse. A malformed escape is what it looks like. */
function toKey(token: string): string {
  return (decoded(token) ?? token).replaceAll('~1', '/').replaceAll('~0', '~');
}
