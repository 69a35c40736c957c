import type { JsonObject } from '../../domain/json.ts';
import type { SchemaError } from '../../domain/tool-call-error.ts';

/** Checks values against JSON Schemas, of version 2020-12 unless `$schema` names another. */
export interface SchemaValidator {
  /** Every problem of the value. A schema that cannot be used is logged once, and everything matches it. */
  validate(schema: JsonObject, value: unknown): readonly SchemaError[];
}
