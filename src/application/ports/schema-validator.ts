import type { Result } from 'neverthrow';
import type { SchemaCheckError } from '../../domain/gateway/tool-call-error.ts';
import type { JsonObject } from '../../domain/values/json.ts';

/** A value, and the schema of a tool: JSON Schema of version 2020-12 unless `$schema` names another. */
export interface SchemaCheck {
  readonly server: string;
  readonly tool: string;
  readonly schema: JsonObject;
  readonly value: unknown;
  /** Who waits: servers take turns, and callers of one server do. */
  readonly caller: string;
}

/** Checks values against the schemas that servers have written for their tools. */
export interface SchemaValidator {
  /**
   * Ok if the value matches, and also if the schema cannot be used, which is logged once per tool. The promise never rejects, and settles
   * with `aborted` soon after `signal` aborts. No schema and no value stops other work: what could take long is checked elsewhere, with
   * limits of time and size beyond which the value is `unchecked`.
   */
  validate(check: SchemaCheck, signal: AbortSignal): Promise<Result<void, SchemaCheckError>>;
}
