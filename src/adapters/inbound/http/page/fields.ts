import { isObject, type JsonObject } from '../../../../domain/values/json.ts';
import { requiredBy, type SimpleSchema, simplified } from './schema.ts';
import { skeletonOf } from './skeleton.ts';

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
