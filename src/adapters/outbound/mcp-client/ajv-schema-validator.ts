import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Logger } from '../../../application/ports/logger.ts';
import type { SchemaValidator } from '../../../application/ports/schema-validator.ts';
import type { JsonObject } from '../../../domain/json.ts';
import type { SchemaError } from '../../../domain/tool-call-error.ts';

const OPTIONS: Options = { strict: false, allErrors: true, addUsedSchema: false, logger: false, validateFormats: true };
const MAX_ERRORS = 20;
/** Paths contain names from the input, which may be long. */
const MAX_PATH_LENGTH = 200;

/** JSON Schema by ajv: 2020-12, 2019-09, draft-07 and draft-06. Compiled schemas are kept as long as the schema. */
export class AjvSchemaValidator implements SchemaValidator {
  readonly #logger: Logger;
  /** Null for a schema that cannot be compiled. */
  readonly #compiled = new WeakMap<JsonObject, ValidateFunction | null>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  validate(schema: JsonObject, value: unknown): readonly SchemaError[] {
    let compiled = this.#compiled.get(schema);
    if (compiled === undefined) {
      compiled = this.#compile(schema);
      this.#compiled.set(schema, compiled);
    }
    if (compiled === null || compiled(value)) return [];
    return (compiled.errors ?? []).slice(0, MAX_ERRORS).map((error) => {
      const { path, message } = toSchemaError(error);
      return { path: path.slice(0, MAX_PATH_LENGTH), message };
    });
  }

  #compile(schema: JsonObject): ValidateFunction | null {
    try {
      // An instance per schema: IDs of different servers may be equal.
      return createAjv(schema.$schema).compile(schema);
    } catch (error) {
      const reason = (error as Error).message;
      this.#logger.warn(`gateway: a schema cannot be used, so values are not checked against it: ${reason}`);
      return null;
    }
  }
}

function createAjv(version: unknown): Ajv {
  const name = String(version ?? '');
  const ajv = /draft-0[67]/.test(name)
    ? new Ajv(OPTIONS)
    : name.includes('2019-09')
      ? new Ajv2019(OPTIONS)
      : new Ajv2020(OPTIONS);
  addFormats.default(ajv);
  return ajv;
}

/** The path leads to the member that is wrong, also if it is missing or not allowed. */
function toSchemaError({ instancePath, params, message = 'is not valid', keyword }: ErrorObject): SchemaError {
  const member = params.missingProperty ?? params.additionalProperty ?? params.unevaluatedProperty;
  const path =
    typeof member === 'string' ? `${instancePath}/${member.replaceAll('~', '~0').replaceAll('/', '~1')}` : instancePath;
  const values = (allowed: readonly unknown[]) => allowed.map((one) => JSON.stringify(one)).join(', ');
  switch (keyword) {
    case 'required':
      return { path, message: 'is required' };
    case 'dependentRequired':
    case 'dependencies':
      return { path, message: `is required with ${params.property}` };
    case 'additionalProperties':
    case 'unevaluatedProperties':
    case 'false schema':
      return { path, message: 'is not allowed' };
    case 'enum':
      return { path, message: `must be one of ${values(params.allowedValues)}` };
    case 'const':
      return { path, message: `must be ${values([params.allowedValue])}` };
    default:
      return { path, message };
  }
}
