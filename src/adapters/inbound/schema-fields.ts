import { isObject, type JsonObject } from '../../domain/values/json.ts';
import { targetOf } from '../../domain/values/json-pointer.ts';

/** A property of a tool's input, and the control for it. */
export interface Field {
  readonly name: string;
  readonly isRequired: boolean;
  readonly hint: string;
  readonly control: Control;
}

export type Control =
  | { readonly kind: 'text'; readonly preset: string; readonly isLong: boolean }
  | { readonly kind: 'number'; readonly preset: number | undefined; readonly limits: Limits }
  | { readonly kind: 'checkbox'; readonly preset: boolean }
  /** `preset`: the index of the value in `choices`; -1 for none. */
  | { readonly kind: 'choice'; readonly preset: number; readonly choices: readonly Choice[] }
  /** `skeleton` is not sent unless a person inserts it. */
  | { readonly kind: 'json'; readonly preset: unknown; readonly skeleton: unknown };

interface Choice {
  readonly value: unknown;
  readonly label: string;
}

interface Limits {
  readonly step: string;
  readonly min: string;
  readonly max: string;
}

/** The fields for the properties of a schema; undefined if it does not describe its properties. */
export function fieldsOf(inputSchema: JsonObject): readonly Field[] | undefined {
  const { type, members } = simplified(inputSchema, inputSchema);
  const { properties, additionalProperties } = members;
  if (properties === undefined && (additionalProperties || type !== 'object')) return undefined;
  return Object.entries(isObject(properties) ? properties : {}).map(([name, property]) => {
    const schema = simplified(property, inputSchema);
    const isRequired = requiredBy(members).includes(name);
    const { title, description } = schema.members;
    const hint = [title, description].filter((text) => typeof text === 'string' && text !== '').join(': ');
    const skeleton = () => skeletonOf(property, inputSchema);
    return { name, isRequired, hint, control: controlOf(name, schema, isRequired, skeleton) };
  });
}

function controlOf(name: string, schema: SimpleSchema, isRequired: boolean, skeleton: () => unknown): Control {
  const { type, values, members } = schema;
  const { default: preset } = members;
  if (values !== undefined) return choice(values, schema.names, isRequired ? (preset ?? members.const) : preset);
  switch (type) {
    case 'boolean':
      if (!isRequired && preset === undefined) return choice([true, false], [], undefined);
      return { kind: 'checkbox', preset: preset === true };
    case 'string': {
      const text = typeof preset === 'string' ? preset : '';
      return { kind: 'text', preset: text, isLong: isLongText(name, members.maxLength) || text.includes('\n') };
    }
    case 'number':
    case 'integer': {
      const number = typeof preset === 'number' ? preset : undefined;
      const limit = (value: unknown) => (typeof value === 'number' ? String(value) : '');
      const limits = {
        step: type === 'integer' ? '1' : 'any',
        min: limit(members.minimum),
        max: limit(members.maximum),
      };
      return { kind: 'number', preset: number, limits };
    }
    default:
      return { kind: 'json', preset: preset ?? (isRequired ? skeleton() : undefined), skeleton: skeleton() };
  }
}

function choice(values: readonly unknown[], names: readonly unknown[], preset: unknown): Control {
  const label = (value: unknown, name: unknown) => {
    if (typeof name === 'string' && name !== '') return name;
    return typeof value === 'string' && value !== '' ? value : JSON.stringify(value);
  };
  const place = values.findIndex((value) => JSON.stringify(value) === JSON.stringify(preset));
  return {
    kind: 'choice',
    preset: place,
    choices: values.map((value, at) => ({ value, label: label(value, names[at]) })),
  };
}

/** Names of properties whose text may have several lines. */
const LONG_TEXT = /(?:^|_|-)(?:text|content|body|message|prompt|query|question|code|sql|html|script|description)$/i;

function isLongText(name: string, maxLength: unknown): boolean {
  return LONG_TEXT.test(name.replace(/[A-Z]/g, '_$&')) || (typeof maxLength === 'number' && maxLength > 200);
}

/** A schema whose local references, nullable types and lists of constants are resolved. */
interface SimpleSchema {
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

function simplified(schema: unknown, root: JsonObject, depth = 0): SimpleSchema {
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

/** The names of the properties that a schema requires. */
function requiredBy({ required }: JsonObject): readonly unknown[] {
  return Array.isArray(required) ? required : [];
}

/** Maximum depth of a skeleton, because a schema may contain itself. */
const MAX_SKELETON_DEPTH = 5;

/** An example of a value for a schema. An object has the required properties, or all if none is required. */
export function skeletonOf(schema: unknown, root: JsonObject, depth = 0): unknown {
  const { type, values, options, members } = simplified(schema, root);
  if (members.default !== undefined && members.default !== null) return members.default;
  if (values !== undefined) return values[0];
  const inner = (part: unknown) => skeletonOf(part, root, depth + 1);
  switch (type ?? (isObject(members.properties) ? 'object' : undefined)) {
    case 'object':
      return depth < MAX_SKELETON_DEPTH ? properties(members, inner) : {};
    case 'array':
      return depth < MAX_SKELETON_DEPTH && isObject(members.items) ? [inner(members.items)] : [];
    case 'string':
      return '';
    case 'number':
    case 'integer':
      return typeof members.minimum === 'number' ? members.minimum : 0;
    case 'boolean':
      return false;
    default:
      return depth < MAX_SKELETON_DEPTH && options.length > 0 ? inner(options[0]) : null;
  }
}

function properties(members: JsonObject, inner: (part: unknown) => unknown): unknown {
  const all = isObject(members.properties) ? Object.entries(members.properties) : [];
  const required = all.filter(([name]) => requiredBy(members).includes(name));
  return Object.fromEntries((required.length > 0 ? required : all).map(([name, part]) => [name, inner(part)]));
}
