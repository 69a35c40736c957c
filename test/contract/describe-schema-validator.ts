import { describe, expect, test } from 'vitest';
import type { SchemaCheck, SchemaValidator } from '../../src/application/ports/tool-server.ts';
import type { JsonObject } from '../../src/domain/values/json.ts';

export interface StartedValidator {
  readonly validator: SchemaValidator;
  /** The lines of the log. */
  readonly lines: readonly string[];
  readonly unusable: readonly JsonObject[];
}

export function checkOf(schema: JsonObject, value: unknown, tool = 'tool'): SchemaCheck {
  return { server: 'server', tool, schema, value };
}

/** What every SchemaValidator promises (see the port). */
export function describeSchemaValidator(name: string, start: () => StartedValidator): void {
  describe(`${name} as a SchemaValidator`, () => {
    test('accepts a value that matches, and reports the first problem of one that does not', () => {
      const { validator, lines } = start();
      const schema = { required: ['a', 'b'] };
      expect(validator.validate(checkOf(schema, { a: 1, b: 1 }))).toBeUndefined();
      expect(validator.validate(checkOf(schema, {}))).toEqual({ path: '/a', message: 'is required' });
      expect(lines).toEqual([]);
    });

    test('accepts every value for a schema that cannot be used, which is logged once', () => {
      const { validator, lines, unusable } = start();
      for (const [at, schema] of unusable.entries()) {
        for (let calls = 0; calls < 2; calls += 1) {
          expect(validator.validate(checkOf(schema, { x: 1 }, `a${at}`))).toBeUndefined();
        }
      }
      const logged = lines.map((line) => /a schema of server\/(\w+) cannot be used/.exec(line)?.[1]);
      expect(logged).toEqual(unusable.map((_, at) => `a${at}`));
    });
  });
}
