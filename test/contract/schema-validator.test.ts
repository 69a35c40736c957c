import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { SystemClock } from '../../src/adapters/outbound/clock/system-clock.ts';
import { AjvSchemaValidator } from '../../src/adapters/outbound/mcp-client/ajv-schema-validator.ts';
import type { JsonObject } from '../../src/domain/values/json.ts';
import { FakeSchemaValidator } from '../support/fake-schema-validator.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { bundledSchemaThread } from '../support/schema-thread.ts';
import { checkOf, describeSchemaValidator } from './describe-schema-validator.ts';
import { never } from './search-kit.ts';

const thread = await bundledSchemaThread();

function startAjv(script = thread) {
  const logger = new RecordingLogger();
  const validator = new AjvSchemaValidator({ clock: new SystemClock(), logger, thread: script });
  onTestFinished(() => validator.close());
  return { validator, lines: logger.lines };
}

const AS = `${'a'.repeat(60)}!`;
const BACKTRACKS = { schema: { properties: { a: { pattern: '^(a+)+$' } } }, value: { a: AS } };

describeSchemaValidator('AjvSchemaValidator', () => ({
  ...startAjv(),
  slow: BACKTRACKS,
  // The time is that of the machine.
  giveUp: async () => {},
  unusable: [
    { $schema: 'http://json-schema.org/draft-04/schema#' },
    { $ref: '#/$defs/missing' },
    { pattern: '(' },
    { type: 'strin' },
    { type: ['string', 'string'] },
    { type: [] },
    { required: 'x' },
    { required: true },
    { required: ['a', 'a'] },
    { properties: { a: 5 } },
    { properties: [] },
    { items: [{}] },
    { enum: 'x' },
    { minLength: -1 },
    { minimum: '1' },
    { multipleOf: 0 },
    { anyOf: [] },
    { additionalProperties: null },
    { $async: true, required: ['a'] },
    { allOf: [{ $ref: '#/$defs/a' }], $defs: { a: { $async: true, required: ['a'] } } },
    { $dynamicRef: '#a', $defs: { a: { $dynamicAnchor: 'a', $async: true, required: ['a'] } } },
    { $dynamicRef: '#__proto__' },
    { default: Array.from({ length: 100_001 }, () => 1) },
  ],
}));

describeSchemaValidator('FakeSchemaValidator', () => {
  const validator = new FakeSchemaValidator();
  return {
    validator,
    lines: validator.logger.lines,
    slow: { schema: { does: 'slow' }, value: {} },
    giveUp: async () => validator.giveUp(),
    unusable: [{ does: 'fail' }],
  };
});

const MAX_DELAY_MS = 50;

/** Each definition refers twice to the next. */
function doubling(keyword: string): JsonObject {
  const next = (at: number) => ({ [keyword]: Array(2).fill({ $ref: `#/$defs/d${at + 1}` }) });
  const definitions = Array.from({ length: 30 }, (_, at) => [`d${at}`, at === 29 ? { type: 'string' } : next(at)]);
  return { $ref: '#/$defs/d0', $defs: Object.fromEntries(definitions) };
}

const named = (count: number, toSchema: (at: number) => unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, toSchema(at)]));
const nested = (depth: number): JsonObject =>
  JSON.parse(`${'{"properties":{"a":'.repeat(depth)}{}${'}}'.repeat(depth)}`) as JsonObject;
const pairs = Array.from({ length: 20_000 }, (_, at) => [at]);
const THIRTY = { type: 'object', required: Object.keys(named(30, () => 1)) };
/** Another name each time, because V8 remembers what it replaced in a name. */
const nameOf = (length: number, value: unknown) => (run: number) => ({ [`${run}${'a/b~'.repeat(length)}`]: value });
const outcomes = ['ok', 'mismatch', 'too_slow', 'too_large'] as const;

describe('AjvSchemaValidator never stops the event loop', () => {
  test.for<readonly [string, JsonObject, unknown, readonly (typeof outcomes)[number][]]>([
    ['a pattern that backtracks for ever', BACKTRACKS.schema, BACKTRACKS.value, ['too_slow']],
    ['names that match a pattern that backtracks', { patternProperties: { '^(a+)+$': {} } }, { [AS]: 1 }, ['too_slow']],
    ['references that double', doubling('allOf'), 1, ['too_slow']],
    ['alternatives that double', doubling('anyOf'), 1, ['too_slow']],
    ['120 KB of unique items', { uniqueItems: true }, pairs, ['too_slow']],
    ['many items that contain none', { contains: { pattern: '^(a+)+$' } }, Array(5).fill(AS), ['too_slow']],
    ['many problems', { items: { anyOf: Array(90).fill({ type: 'string' }) } }, Array(60_000).fill(1), outcomes],
    ['a long text', { anyOf: Array(60).fill({ maxLength: 1 }) }, 'x'.repeat(8_000_000), outcomes],
    ['a name of 8 MB that is not allowed', { additionalProperties: false }, nameOf(2_000_000, 1), outcomes],
    ['a name of 120 KB', { additionalProperties: THIRTY }, nameOf(30_000, {}), outcomes],
    [
      'many values below a name of 400 characters',
      { additionalProperties: { additionalProperties: { type: 'null' } } },
      nameOf(
        400,
        named(8000, (at) => at),
      ),
      outcomes,
    ],
    ['a text of 100 MB', { format: 'uri' }, 'x'.repeat(100_000_000), ['too_large']],
    ['a value of a million parts', { format: 'uri' }, Array(1_000_000).fill(1), ['too_large']],
    ['24,000 names that are not allowed', { additionalProperties: false }, named(24_000, () => 1), outcomes],
    ['a schema of 2,000 properties', { properties: named(2000, () => ({ type: 'string', minLength: 1 })) }, {}, ['ok']],
    ['a schema of 5,000 references', { properties: named(5000, () => ({ $ref: '#' })) }, {}, ['ok']],
    ['a schema with 100,000 alternatives', { enum: Array.from({ length: 100_000 }, (_, at) => at) }, 1, ['ok']],
    ['a schema of 1,000,000 parts', { examples: Array(1_000_000).fill(1) }, {}, ['ok']],
    ['a schema of 200 levels', nested(200), {}, ['ok']],
    ['a schema of 5,000 levels', nested(5000), {}, ['ok']],
  ])('for %s', async ([_, schema, value, expected]) => {
    let shortestMs = Number.POSITIVE_INFINITY;
    // Other processes disturb some of the runs. What blocks does so in each.
    for (let run = 0; run < 20 && shortestMs >= MAX_DELAY_MS; run += 1) {
      const { validator } = startAjv();
      // Its own code is compiled with the first check.
      await validator.validate(checkOf({ type: 'string' }, ''), never());
      const delay = monitorEventLoopDelay({ resolution: 1 });
      delay.enable();
      // A delay is seen between two turns of the event loop, and a check that needs no thread leaves it none.
      await setTimeout(5);
      const outcome = await validator.validate(
        checkOf({ ...schema }, typeof value === 'function' ? value(run) : value),
        never(),
      );
      await setTimeout(5);
      delay.disable();
      shortestMs = Math.min(shortestMs, delay.max / 1e6);
      const kind = outcome.match(
        () => 'ok',
        (error) => (error.kind === 'unchecked' ? error.problem : error.kind),
      );
      expect(expected).toContain(kind);
    }
    expect(shortestMs).toBeLessThan(MAX_DELAY_MS);
  });
});

describe('AjvSchemaValidator', () => {
  const slow = (server: string, caller: string) =>
    checkOf({ ...BACKTRACKS.schema }, BACKTRACKS.value, { server, caller });
  const pattern = { properties: { a: { type: 'string', pattern: '^x' } }, required: ['b'] };

  test('reports every problem also of a schema that needs the thread', async () => {
    const { validator } = startAjv();
    const { errors } = await mismatchOf(validator.validate(checkOf(pattern, { a: 'a' }), never()));
    expect(errors.map(({ path }) => path).toSorted()).toEqual(['/a', '/b']);
  });

  test('takes the servers in turns, and the callers of each', async () => {
    const { validator } = startAjv();
    const ended: string[] = [];
    const run = (server: string, caller: string, check = slow(server, caller)) =>
      validator.validate(check, never()).then(() => ended.push(`${server} ${caller}`));
    const fast = checkOf(pattern, {}, { server: 'good' });
    await Promise.all([
      run('bad', 'alice'),
      run('bad', 'alice'),
      run('bad', 'alice'),
      run('bad', 'bob'),
      run('good', 'alice', fast),
    ]);
    expect(ended).toEqual(['bad alice', 'good alice', 'bad alice', 'bad bob', 'bad alice']);
  });

  test('fails a check whose thread ends, and starts another for the next', async () => {
    const { validator, lines } = startAjv(new URL('data:text/javascript,process.exit(1)'));
    for (let check = 0; check < 2; check += 1) {
      const outcome = await validator.validate(checkOf(pattern, {}), never());
      expect(outcome._unsafeUnwrapErr()).toEqual({ kind: 'unchecked', problem: 'failed' });
    }
    expect((await mismatchOf(validator.validate(checkOf({ type: 'string' }, 1), never()))).errors).toHaveLength(1);
    expect(lines).toEqual([]);
  });

  test('compiles a schema that takes too long only once, however many checks wait for it', async () => {
    const { validator, lines } = startAjv();
    const member = (_: unknown, index: number) => [`p${index}`, { pattern: '^a', enum: ['a', `b${index}`] }];
    const schema = { properties: Object.fromEntries(Array.from({ length: 9000 }, member)) };
    const startedMs = performance.now();
    const checks = Array.from({ length: 10 }, () => validator.validate(checkOf(schema, { p1: 'b' }), never()));
    for (const outcome of await Promise.all(checks)) expect(outcome.isOk()).toBe(true);
    expect(performance.now() - startedMs).toBeLessThan(8000);
    expect(lines).toEqual([expect.stringContaining('to compile it takes more than 1000 ms')]);
  });

  test.each([
    ['patterns that are long together', { pattern: `(?:${'\\P{L}?'.repeat(6000)})*$` }],
    ['hundreds of classes of characters', { pattern: '\\P{L}'.repeat(475) }],
    ['patterns of names', { patternProperties: { ['a'.repeat(33_000)]: {} } }],
  ])('does not use a schema with %s, which would fill the memory', async (_, schema) => {
    const { validator, lines } = startAjv();
    expect((await validator.validate(checkOf(schema, 'a'), never())).isOk()).toBe(true);
    expect(lines).toEqual([expect.stringContaining('its patterns have more than 32768 characters')]);
  });

  test('checks a large value of a schema that is referred to many times', async () => {
    const { validator, lines } = startAjv();
    const $defs = { a: { const: 'x'.repeat(300_000) } };
    const schema = { $defs, properties: { a: { allOf: Array.from({ length: 300 }, () => ({ $ref: '#/$defs/a' })) } } };
    expect((await validator.validate(checkOf(schema, { a: 'y' }), never())).isErr()).toBe(true);
    expect(lines).toEqual([]);
  });

  test('fails checks while no thread can be started', async () => {
    const { validator } = startAjv(new URL('https://localhost/'));
    for (let check = 0; check < 2; check += 1) {
      const outcome = await validator.validate(checkOf(pattern, {}), never());
      expect(outcome._unsafeUnwrapErr()).toEqual({ kind: 'unchecked', problem: 'failed' });
    }
  });

  test('says that a file of the program is missing', async () => {
    const { validator } = startAjv(new URL('no-such-file.js', import.meta.url));
    const outcome = await validator.validate(checkOf(pattern, {}), never());
    expect(outcome._unsafeUnwrapErr()).toEqual({ kind: 'unchecked', problem: 'incomplete' });
  });

  test('fails a check that needs too much stack, and uses the schema for the next value', async () => {
    const { validator, lines } = startAjv();
    const references = named(100, (at) => ({ anyOf: [{ $ref: `#/$defs/p${at + 1}` }], minProperties: 0 }));
    const $defs = { ...references, p100: { type: 'object', properties: { a: { $ref: '#/$defs/p0' } } } };
    const schema = { $defs, $ref: '#/$defs/p0' };
    const deep: unknown = JSON.parse(`${'{"a":'.repeat(900)}1${'}'.repeat(900)}`);
    const outcome = await validator.validate(checkOf(schema, deep), never());
    expect(outcome._unsafeUnwrapErr()).toEqual({ kind: 'unchecked', problem: 'failed' });
    const { errors } = await mismatchOf(validator.validate(checkOf(schema, { a: 1 }), never()));
    expect(errors[0]).toEqual({ path: '/a', message: 'must be object' });
    expect(lines).toEqual([]);
  });

  test('ends its thread when it is closed, and fails what waits', async () => {
    const { validator } = startAjv();
    const outcomes = [slow('a', ''), slow('b', ''), slow('b', '')].map((check) => validator.validate(check, never()));
    await validator.close();
    for (const outcome of await Promise.all(outcomes)) {
      expect(outcome._unsafeUnwrapErr()).toEqual({ kind: 'unchecked', problem: 'failed' });
    }
    expect((await validator.validate(checkOf(pattern, {}), never())).isErr()).toBe(true);
  });

  test('checks no more than some of a schema that allows very much, and shortens what it repeats', async () => {
    const { validator } = startAjv();
    const schema = { items: { pattern: 'x', enum: ['x'.repeat(10_000)] }, propertyNames: { maxLength: 1 } };
    const { errors } = await mismatchOf(validator.validate(checkOf(schema, Array(100).fill('a')), never()));
    expect(errors).toHaveLength(20);
    expect(Math.max(...errors.map(({ message }) => message.length))).toBe(2000);
  });
});

async function mismatchOf(checked: ReturnType<AjvSchemaValidator['validate']>) {
  const error = (await checked)._unsafeUnwrapErr();
  if (error.kind !== 'mismatch') throw new Error(error.kind);
  return error;
}
