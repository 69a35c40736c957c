import { describe, expect, test } from 'vitest';
import type { SchemaCheck, SchemaValidator } from '../../src/application/ports/schema-validator.ts';
import type { JsonObject } from '../../src/domain/values/json.ts';
import { settled } from '../support/fake-clock.ts';
import { expectNoListener, never } from './search-kit.ts';

export interface StartedValidator {
  readonly validator: SchemaValidator;
  /** The lines of the log. */
  readonly lines: readonly string[];
  /** A schema whose check takes until `giveUp`, with a value for it. */
  readonly slow: { readonly schema: JsonObject; readonly value: unknown };
  /** Lets the time for a check pass. */
  readonly giveUp: () => Promise<void>;
  readonly unusable: readonly JsonObject[];
}

export function checkOf(schema: JsonObject, value: unknown, more: Partial<SchemaCheck> = {}): SchemaCheck {
  return { server: 'server', tool: 'tool', schema, value, caller: '', ...more };
}

/** What every SchemaValidator promises (see the port). */
export function describeSchemaValidator(name: string, start: () => StartedValidator): void {
  describe(`${name} as a SchemaValidator`, () => {
    const required = { required: ['a', 'b'] };

    test('accepts a value that matches, and reports each problem of one that does not', async () => {
      const { validator, lines } = start();
      const signal = never();
      expect((await validator.validate(checkOf(required, { a: 1, b: 1 }), signal)).isOk()).toBe(true);
      expect((await validator.validate(checkOf(required, {}), signal))._unsafeUnwrapErr()).toEqual({
        kind: 'mismatch',
        errors: [
          { path: '/a', message: 'is required' },
          { path: '/b', message: 'is required' },
        ],
      });
      expect(lines).toEqual([]);
      expectNoListener(signal);
    });

    test('accepts every value for a schema that cannot be used, which is logged once per tool', async () => {
      const { validator, lines, unusable } = start();
      for (const [at, schema] of unusable.entries()) {
        for (const tool of [`a${at}`, `a${at}`, `b${at}`]) {
          expect((await validator.validate(checkOf({ ...schema }, { x: 1 }, { tool }), never())).isOk()).toBe(true);
        }
      }
      const expected = unusable.flatMap((_, at) => [`a${at}`, `b${at}`]);
      expect(lines.map((line) => /a schema of server\/(\w+) cannot be used/.exec(line)?.[1])).toEqual(expected);
    });

    test('gives up a check that takes too long, and then checks others', async () => {
      const { validator, slow, giveUp } = start();
      const signal = never();
      const outcome = validator.validate(checkOf(slow.schema, slow.value), signal);
      await giveUp();
      expect((await outcome)._unsafeUnwrapErr()).toEqual({ kind: 'unchecked', problem: 'too_slow' });
      expect((await validator.validate(checkOf(required, {}), signal)).isErr()).toBe(true);
      expectNoListener(signal);
    });

    test('ends when the signal aborts', async () => {
      const { validator, slow } = start();
      const controller = new AbortController();
      const outcome = validator.validate(checkOf(slow.schema, slow.value), controller.signal);
      await settled();
      controller.abort();
      expect((await outcome)._unsafeUnwrapErr()).toEqual({ kind: 'aborted' });
      expectNoListener(controller.signal);
      const late = await validator.validate(checkOf(slow.schema, slow.value), AbortSignal.abort());
      expect(late._unsafeUnwrapErr()).toEqual({ kind: 'aborted' });
    });
  });
}
