import type { SchemaError } from '../../domain/gateway/tool-call-error.ts';
import type { JsonObject } from '../../domain/values/json.ts';

/** An input, and the input schema of its tool. */
export interface SchemaCheck {
  readonly server: string;
  readonly tool: string;
  readonly schema: JsonObject;
  readonly value: unknown;
}

/** Checks values against the schemas that servers have written for their tools. */
export interface SchemaValidator {
  /**
   * The first problem of a value; undefined if there is none, or if the check is left to the server, because the schema cannot be used (logged
   * once) or the check could take long. Never throws.
   */
  validate(check: SchemaCheck): SchemaError | undefined;
}
