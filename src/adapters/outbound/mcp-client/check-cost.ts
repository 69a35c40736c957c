import { isObject } from '../../../domain/values/json.ts';

/** What the check of a value costs at most, in steps of the check. */
export interface CheckCost {
  perValue: number;
  perCharacter: number;
  /** Of each value, per character of the longest name: an error contains the names that lead to it, if the schema does not. */
  perNameCharacter: number;
}

/** To compile a schema takes up to 0.2 ms per step. */
const MAX_PER_VALUE = 100;

/**
 * The cost for a small schema of plain keywords, which takes each value of its input once; undefined for any other. Patterns, formats,
 * references and `uniqueItems` can take any time. Also undefined if the schema is not valid.
 */
export function costOf(schema: unknown): Readonly<CheckCost> | undefined {
  const cost = { perValue: 0, perCharacter: 0, perNameCharacter: 0 };
  return isPlain(schema, cost) ? cost : undefined;
}

function isPlain(schema: unknown, cost: CheckCost): boolean {
  if (!spend(cost, '')) return false;
  if (typeof schema === 'boolean') return true;
  if (!isObject(schema)) return false;
  return Object.entries(schema).every(([keyword, value]) => KEYWORDS.get(keyword)?.(value, cost) === true);
}

function isPlainMap(schemas: unknown, cost: CheckCost): boolean {
  return (
    isObject(schemas) && Object.entries(schemas).every(([name, schema]) => isName(name, cost) && isPlain(schema, cost))
  );
}

/** Whether the schema is still small with one more step, for which a text is compared. */
function spend(cost: CheckCost, text: string): boolean {
  cost.perValue += 1 + text.length / 64;
  return cost.perValue <= MAX_PER_VALUE;
}

type Reader = (value: unknown, cost: CheckCost) => boolean;

const isText: Reader = (value) => typeof value === 'string';
const isFlag: Reader = (value) => typeof value === 'boolean';
const isNumber: Reader = (value, cost) => typeof value === 'number' && spend(cost, '');
const isCount: Reader = (value, cost) => Number.isInteger(value) && Number(value) >= 0 && spend(cost, '');
const isLength: Reader = (value, cost) => {
  cost.perCharacter += 1;
  return isCount(value, cost);
};
const isPlainOfAnyName: Reader = (value, cost) => {
  const before = cost.perValue;
  const isRead = isPlain(value, cost);
  // ajv looks twice at each character, to escape it.
  if (isObject(value)) cost.perNameCharacter += 2 * (cost.perValue - before);
  return isRead;
};
const isScalar: Reader = (value, cost) =>
  (value === null || ['string', 'number', 'boolean'].includes(typeof value)) && spend(cost, String(value));
const isName: Reader = (value, cost) => typeof value === 'string' && spend(cost, value);
const isType: Reader = (value, cost) => TYPES.has(value) && spend(cost, '');

const TYPES: ReadonlySet<unknown> = new Set(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']);

function listOf(read: Reader, minItems = 1): Reader {
  return (value, cost) => Array.isArray(value) && value.length >= minItems && value.every((item) => read(item, cost));
}

function setOf(read: Reader, minItems = 1): Reader {
  const isList = listOf(read, minItems);
  return (value, cost) => Array.isArray(value) && isList(value, cost) && new Set(value).size === value.length;
}

const VERSION =
  /^(?:http:\/\/json-schema\.org\/draft-0[67]\/schema#?|https:\/\/json-schema\.org\/draft\/(?:2019-09|2020-12)\/schema)$/;

/** Reads the values of the keywords, which mean the same in every version. */
const KEYWORDS = new Map<string, Reader>([
  ['$schema', (value) => typeof value === 'string' && VERSION.test(value)],
  ...all(isText, '$comment', 'title', 'description'),
  ['default', () => true],
  ['examples', Array.isArray],
  ...all(isFlag, 'deprecated', 'readOnly', 'writeOnly'),
  ['type', (value, cost) => isType(value, cost) || setOf(isType)(value, cost)],
  ['const', isScalar],
  ['enum', setOf(isScalar)],
  ...all(isNumber, 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'),
  ...all(isLength, 'minLength', 'maxLength'),
  ...all(isCount, 'minItems', 'maxItems', 'minProperties', 'maxProperties'),
  ['required', setOf(isName, 0)],
  ['properties', isPlainMap],
  ['additionalProperties', isPlainOfAnyName],
  ['items', isPlain],
  ...all(listOf(isPlain), 'anyOf', 'oneOf', 'allOf'),
]);

function all(read: Reader, ...keywords: readonly string[]): readonly (readonly [string, Reader])[] {
  return keywords.map((keyword) => [keyword, read]);
}
