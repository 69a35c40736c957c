import { expect, test } from 'vitest';
import { KEYS } from '../../../../../src/adapters/outbound/config/keys.ts';
import { readValue, type ValueKind } from '../../../../../src/adapters/outbound/config/kinds.ts';
import { entry } from '../../../../../src/adapters/outbound/config/sections.ts';
import { SERVER_TABLE } from '../../../../../src/adapters/outbound/config/server-keys.ts';
import { isObject, type JsonObject } from '../../../../../src/domain/values/json.ts';

/** A value of each kind that YAML has, none of which a kind accepts that names another one in its schema. */
const SAMPLES: Readonly<Record<string, unknown>> = {
  object: { a: 'b' },
  array: ['a'],
  number: 1.5,
  boolean: true,
  string: '30 s',
};

/** The kinds that a schema names. */
function kindsIn(schema: JsonObject): readonly string[] {
  const parts = Array.isArray(schema.anyOf) ? schema.anyOf : [];
  if (parts.length > 0) return parts.flatMap(kindsIn);
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => (value === null ? 'null' : typeof value));
  const types = [schema.type].flat().map(String);
  return types.map((type) => (type === 'integer' ? 'number' : type));
}

/** The values that a schema contains, each in a value of the whole: `{rename: x}`, then `{rename: {a: x}}`. */
function placesIn(
  schema: JsonObject,
): readonly { place: string; schema: JsonObject; put: (value: unknown) => unknown }[] {
  const own = [{ place: '', schema, put: (value: unknown) => value }];
  const parts = Array.isArray(schema.anyOf) ? schema.anyOf : [schema];
  const inner = parts.filter(isObject).flatMap(({ properties, additionalProperties, items }) => [
    ...Object.entries(isObject(properties) ? properties : {}).map(([name, of]) => ({
      name: `.${name}`,
      of,
      put: (value: unknown): unknown => ({ [name]: value }),
    })),
    { name: '.a', of: additionalProperties, put: (value: unknown): unknown => ({ a: value }) },
    { name: '[0]', of: items, put: (value: unknown): unknown => [value] },
  ]);
  const nested = inner.flatMap(({ name, of, put }) =>
    isObject(of)
      ? placesIn(of).map((one) => ({ ...one, place: name + one.place, put: (value: unknown) => put(one.put(value)) }))
      : [],
  );
  return [...own, ...nested];
}

const KINDS: readonly (readonly [string, ValueKind])[] = [
  ...KEYS.map(({ path, kind }) => [path, kind] as const),
  ...Object.entries(SERVER_TABLE).map(([name, { kind }]) => [`servers[0].${name}`, kind as ValueKind] as const),
  ['access.alice', entry],
];
const WRONG = KINDS.flatMap(([path, kind]) =>
  placesIn(kind.schema).flatMap(({ place, schema, put }) =>
    Object.entries(SAMPLES)
      .filter(([name]) => !kindsIn(schema).includes(name))
      .map(([name, sample]) => ({ path, at: path + place, name, kind, value: put(sample) })),
  ),
);

// S4
test.each(WRONG)('$name at $at is a problem', ({ path, kind, value }) => {
  const places: string[] = [];
  const report = (where: string) => void places.push(where);
  readValue(kind, value, { where: path, folder: '/', report, expand: (text) => text });
  expect(places.length).toBeGreaterThan(0);
  for (const where of places) expect(where.startsWith(path)).toBe(true);
});

test('every kind of value is tried at many keys', () => {
  expect(new Set(WRONG.map(({ name }) => name))).toEqual(new Set(Object.keys(SAMPLES)));
  expect(WRONG.length).toBeGreaterThan(400);
});

test.each(KINDS)('null at %s is absent, or a problem, and never a value', (path, kind) => {
  expect(kind.fromYaml(null, { where: path, folder: '/', report: () => {}, expand: (text) => text }) ?? undefined).toBe(
    undefined,
  );
});
