import { isObject, type JsonObject } from '../values/json.ts';
import { ANYTHING, type Form, inForm, listOf, mapMembers, TEXT } from './member-forms.ts';

/**
 * A schema of a tool's input or output, in the form that MCP specifies and with the same meaning; undefined if it is no schema of objects. An absent
 * one means any object.
 */
export function toObjectSchema(value: unknown): JsonObject | undefined {
  const schema = isAbsent(value) || value === true ? {} : value;
  if (!isObject(schema)) return undefined;
  const kept = inForm(schema, ROOT);
  const { type, ...keywords } = kept;
  if (type === 'object') return kept;
  const isOfObjects = isAbsent(type) || [type].flat().some((one) => typeof one === 'string' && /^object$/i.test(one));
  return isOfObjects ? { type: 'object', ...keywords } : undefined;
}

/** Whether a schema or a type is not used. PHP writes an empty object as an empty list. */
function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

/** A schema within another one. Clients refuse booleans, which mean anything or nothing, although they are JSON Schema. */
const SCHEMA: Form = (value) => {
  if (value === true) return {};
  if (value === false) return { not: {} };
  return isObject(value) ? inForm(value, KEYWORDS) : undefined;
};

const SCHEMAS = listOf(SCHEMA);
const SCHEMA_OR_BOOLEAN: Form = (value) => (typeof value === 'boolean' ? value : SCHEMA(value));
const SCHEMA_OR_LIST: Form = (value) => (Array.isArray(value) ? SCHEMAS(value) : SCHEMA(value));
/** Schemas by name. A name whose schema is none has any value. */
const NAMED: Form = (value) => {
  if (isObject(value)) return mapMembers(value, (member) => SCHEMA(member) ?? {});
  return Array.isArray(value) && value.length === 0 ? {} : undefined;
};
const VALUES: Form = (value) => (Array.isArray(value) ? value : undefined);
const TYPE: Form = (value) => TEXT(value) ?? listOf(TEXT)(value);
/** Earlier drafts have a boolean at each member. */
const REQUIRED: Form = (value) => (typeof value === 'boolean' ? value : listOf(TEXT)(value));

const KEYWORDS: Readonly<Record<string, Form>> = {
  type: TYPE,
  title: TEXT,
  description: TEXT,
  required: REQUIRED,
  default: ANYTHING,
  const: ANYTHING,
  enum: VALUES,
  examples: VALUES,
  properties: NAMED,
  patternProperties: NAMED,
  dependentSchemas: NAMED,
  definitions: NAMED,
  $defs: NAMED,
  items: SCHEMA_OR_LIST,
  prefixItems: SCHEMAS,
  allOf: SCHEMAS,
  anyOf: SCHEMAS,
  oneOf: SCHEMAS,
  additionalProperties: SCHEMA_OR_BOOLEAN,
  unevaluatedProperties: SCHEMA_OR_BOOLEAN,
  additionalItems: SCHEMA_OR_BOOLEAN,
  unevaluatedItems: SCHEMA_OR_BOOLEAN,
  propertyNames: SCHEMA,
  contains: SCHEMA,
  not: SCHEMA,
  if: SCHEMA,
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
  then: SCHEMA,
  else: SCHEMA,
};

/** At the root, MCP has no other form of these. */
const ROOT = { ...KEYWORDS, type: ANYTHING, required: listOf(TEXT), $schema: TEXT };
