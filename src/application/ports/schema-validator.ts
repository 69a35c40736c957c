import type { SchemaError } from '../../domain/gateway/tool-call-error.ts';
import type { JsonObject } from '../../domain/values/json.ts';

/** An input, and the schema that a tool has for inputs. */
export interface SchemaCheck {
  readonly server: string;
  readonly tool: string;
  readonly schema: JsonObject;
  readonly value: unknown;
}

/** Checks values against the schemas that servers have written for their tools. */
export interface SchemaValidator {
  /**
   * The first problem of a value; undefined if it has none, or if its server must check it: if the schema cannot be used, which is logged
   * once, or for what could take long. Never throws.
   */
  validate(check: SchemaCheck): SchemaError | undefined;
}
