import { describe, expect, test } from 'vitest';
import { AjvSchemaValidator } from '../../src/adapters/outbound/mcp-client/ajv-schema-validator.ts';
import type { JsonObject } from '../../src/domain/values/json.ts';
import { FakeSchemaValidator } from '../support/fake-schema-validator.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { checkOf, describeSchemaValidator } from './describe-schema-validator.ts';

function startAjv() {
  const logger = new RecordingLogger();
  return { validator: new AjvSchemaValidator(logger), lines: logger.lines };
}

describeSchemaValidator('AjvSchemaValidator', () => ({
  ...startAjv(),
  unusable: [{ $ref: '#/$defs/missing' }, { type: 'strin' }, { required: 'x' }, { minLength: '1' }],
}));

describeSchemaValidator('FakeSchemaValidator', () => {
  const validator = new FakeSchemaValidator();
  return { validator, lines: validator.logger.lines, unusable: [{ does: 'fail' }] };
});

// S57
describe('AjvSchemaValidator', () => {
  const problemOf = (schema: JsonObject, value: unknown) => {
    const { validator, lines } = startAjv();
    const problem = validator.validate(checkOf(schema, value));
    expect(lines).toEqual([]);
    return problem && `${problem.path} ${problem.message}`;
  };
  const inProperty = (schema: unknown, more: JsonObject = {}) => ({
    type: 'object',
    properties: { a: schema },
    required: ['a'],
    ...more,
  });

  test.each<readonly [JsonObject, unknown, string]>([
    [{ required: ['message'] }, {}, '/message is required'],
    [{ properties: { a: { required: ['b/c~d'] } } }, { a: {} }, '/a/b~1c~0d is required'],
    [{ properties: { x: false } }, { x: 1 }, '/x is not allowed'],
    [{ dependencies: { a: ['b'] } }, { a: 1 }, '/b is required with a'],
    [{ properties: { n: { type: 'integer' } } }, { n: 'one' }, '/n must be integer'],
    [{ properties: { n: { type: 'integer' } } }, { n: '1.5' }, '/n must be integer'],
    [{ properties: { n: { type: 'number' } } }, { n: ' ' }, '/n must be number'],
    [{ properties: { n: { type: 'boolean' } } }, { n: 'perhaps' }, '/n must be boolean'],
    [{ properties: { n: { type: 'string' } } }, { n: 1 }, '/n must be string'],
    [{ properties: { n: { type: 'array' } } }, { n: '{}' }, '/n must be array'],
    [{ properties: { n: { type: 'integer', maximum: 3 } } }, { n: '5' }, '/n must be <= 3'],
    [{ properties: { n: { enum: [1, 2] } } }, { n: '3' }, '/n must be one of 1, 2'],
    [{ additionalProperties: false, required: ['a'] }, { x: 1 }, '/a is required'],
    [{ properties: { n: { enum: ['a', 1] } } }, { n: 2 }, '/n must be one of "a", 1'],
    [{ properties: { n: { const: 'a' } } }, { n: 2 }, '/n must be "a"'],
    [{ $ref: '#/$defs/a', $defs: { a: { type: 'object' } } }, 1, ' must be object'],
    [{ $schema: 'https://json-schema.org/draft/2020-12/schema', required: ['a'] }, {}, '/a is required'],
    [{ items: { $ref: '#' }, type: 'array' }, [[1]], '/0/0 must be array'],
  ])('%j: %j is reported as %s', (schema, value, expected) => {
    expect(problemOf(schema, value)).toBe(expected);
  });

  const servers = { properties: { a: { type: 'array', items: { properties: { n: { type: 'integer' } } } } } };
  test.each<readonly [JsonObject, unknown]>([
    [{ properties: { n: { type: 'integer' } } }, { n: '5' }],
    [{ properties: { n: { type: 'number' } } }, { n: ' -1.5e3 ' }],
    [{ properties: { n: { type: ['null', 'number'] } } }, { n: '5' }],
    [{ properties: { n: { anyOf: [{ type: 'boolean' }, { type: 'integer' }] } } }, { n: '5' }],
    [{ properties: { n: { type: 'boolean' } } }, { n: 'True' }],
    [{ properties: { n: { type: 'boolean' } } }, { n: 0 }],
    [{ properties: { n: { type: 'array', items: { type: 'integer' } } } }, { n: '["1", 2]' }],
    [{ properties: { n: { type: 'object' } } }, { n: '{"a":1}' }],
    [{ properties: { n: { enum: [1, 2] } } }, { n: '2' }],
    [servers, { a: [{ n: '1' }, { n: 2 }] }],
    [
      { properties: {}, additionalProperties: false },
      { x: 1, 'y/~': 2 },
    ],
    [{ properties: { a: { additionalProperties: false } } }, { a: { x: 1 } }],
  ])('%j: %j may be converted or ignored by the server, and is left to it as it is', (schema, value) => {
    const before = JSON.stringify(value);
    expect(problemOf(schema, value)).toBeUndefined();
    expect(JSON.stringify(value)).toBe(before);
  });

  const AS = `${'a'.repeat(60)}!`;
  const long = { description: 'x'.repeat(64 * 1024), required: ['a'] };
  test.each<readonly [string, JsonObject, unknown]>([
    ['a pattern', { properties: { a: { pattern: '^(a+)+$' } } }, { a: AS }],
    ['a pattern of names', { patternProperties: { '^(a+)+$': false }, additionalProperties: false }, { [AS]: 1 }],
    ['a pattern that is none', { properties: { a: { pattern: '(' } } }, { a: 'a' }],
    ['a format', { properties: { a: { format: 'date' } } }, { a: 'yesterday' }],
    ['unique items', { properties: { a: { uniqueItems: true } } }, { a: [1, 1] }],
    ['a tuple of 2020-12', { properties: { a: { prefixItems: [{}], items: false } } }, { a: [1] }],
    ['no minimum of what a list contains', { contains: { type: 'string' }, minContains: 0 }, [1]],
    ['a schema of ajv whose check is a promise', { $async: true, required: ['a'] }, {}],
    ['a schema above 64 kB', long, {}],
  ])('leaves %s to the server', (_, schema, value) => {
    expect(problemOf(schema, value)).toBeUndefined();
  });

  test.each<readonly [string, JsonObject]>([
    ['of the member', inProperty({ default: 1 })],
    ['beside a reference', inProperty({ $ref: '#/$defs/a', default: 1 }, { $defs: { a: {} } })],
    ['in a definition', inProperty({ $ref: '#/$defs/a~1b' }, { $defs: { 'a/b': { default: 1 } } })],
    ['in an alternative', inProperty({ anyOf: [{ type: 'null' }, { type: 'string', default: 'x' }] })],
    ['in a part', inProperty({ allOf: [true, { default: 1 }] })],
  ])('lets a required member be absent that has a default: %s', (_, schema) => {
    expect(problemOf(schema, {})).toBeUndefined();
  });

  test.each<readonly [string, JsonObject]>([
    ['of the schema itself', inProperty({}, { default: { a: 1 } })],
    ['of the items of the member', inProperty({ items: { default: 1 } })],
    ['of another member', { properties: { b: { default: 1 } }, required: ['a'] }],
    ['in no definition', inProperty({ anyOf: [{ $ref: '#/$defs/b' }] }, { $defs: { b: {}, a: { default: 1 } } })],
  ])('requires a member that has no default of its own: %s', (_, schema) => {
    expect(problemOf(schema, {})).toBe('/a is required');
  });

  test('takes parameters with the names of keywords as what they are', () => {
    const names = ['default', 'pattern', 'format', 'uniqueItems', 'patternProperties', 'required'];
    const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]));
    for (const name of names) {
      const others = Object.fromEntries(names.filter((other) => other !== name).map((other) => [other, '']));
      expect(problemOf({ properties, required: names }, others)).toBe(`/${name} is required`);
      expect(problemOf({ properties, required: names }, { ...others, [name]: 1 })).toBe(`/${name} must be string`);
    }
  });

  test('accepts the same ID in the schemas of two tools and of two servers', () => {
    const { validator, lines } = startAjv();
    const withId = (type: string) => ({ $id: 'https://example.com/input', $defs: { a: { $id: 'part', type } } });
    for (const [server, type] of Object.entries({ one: 'string', two: 'number' })) {
      for (const tool of ['a', 'b']) validator.validate({ ...checkOf(withId(type), 1, tool), server });
    }
    expect(lines).toEqual([]);
  });

  test('shortens the names and values that it repeats', () => {
    const { validator } = startAjv();
    const schema = { additionalProperties: { enum: ['x'.repeat(10_000)] } };
    const problem = validator.validate(checkOf(schema, { ['n'.repeat(1000)]: 1 }));
    expect([problem?.path.length, problem?.message.length]).toEqual([200, 2000]);
  });
});
