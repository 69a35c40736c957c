import { isObject, type JsonObject } from '../values/json.ts';

/** The first revision with lists of choices and choices with titles. */
const WITH_LISTS = '2025-11-25';

/** Whether the schema of a form is one that a revision of MCP allows: an object whose members are texts, numbers, yes or no, or choices. */
export function isFormSchema(schema: unknown, revision: string): schema is JsonObject {
  if (!isObject(schema) || schema.type !== 'object' || !isObject(schema.properties)) return false;
  const hasLists = revision >= WITH_LISTS;
  return (
    isAbsentOr(schema.required, isTexts) && Object.values(schema.properties).every((one) => isField(one, hasLists))
  );
}

function isField(field: unknown, hasLists: boolean): boolean {
  if (!isObject(field) || !isAbsentOr(field.title, isText) || !isAbsentOr(field.description, isText)) return false;
  switch (field.type) {
    case 'string':
      return isTextField(field, hasLists);
    case 'number':
    case 'integer':
      return [field.minimum, field.maximum, field.default].every((one) => isAbsentOr(one, isNumber));
    case 'boolean':
      return isAbsentOr(field.default, (value) => typeof value === 'boolean');
    case 'array':
      return hasLists && isListField(field);
    default:
      return false;
  }
}

const FORMATS: readonly unknown[] = ['email', 'uri', 'date', 'date-time'];

function isTextField(field: JsonObject, hasLists: boolean): boolean {
  const { minLength, maxLength, format, enum: choices, enumNames, oneOf } = field;
  return (
    isAbsentOr(field.default, isText) &&
    [minLength, maxLength].every((one) => isAbsentOr(one, isNumber)) &&
    isAbsentOr(format, (value) => FORMATS.includes(value)) &&
    isAbsentOr(choices, isTexts) &&
    isAbsentOr(enumNames, isTexts) &&
    isAbsentOr(oneOf, (value) => hasLists && isTitled(value))
  );
}

function isListField({ items, minItems, maxItems, default: chosen }: JsonObject): boolean {
  if (![minItems, maxItems].every((one) => isAbsentOr(one, isNumber)) || !isAbsentOr(chosen, isTexts)) return false;
  if (!isObject(items)) return false;
  return isTitled(items.anyOf) || (items.type === 'string' && isTexts(items.enum));
}

/** Whether a value is a list of choices with titles. */
function isTitled(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => isObject(one) && isText(one.const) && isText(one.title));
}

/** Some servers write null for a member that they do not use. */
function isAbsentOr(value: unknown, is: (value: unknown) => boolean): boolean {
  return value === undefined || value === null || is(value);
}

const isText = (value: unknown) => typeof value === 'string';
const isNumber = (value: unknown) => typeof value === 'number';
const isTexts = (value: unknown) => Array.isArray(value) && value.every(isText);
