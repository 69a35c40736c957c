import { Ajv } from '@modelcontextprotocol/client/validators/ajv';
import type { Logger } from '../../../application/ports/logger.ts';
import type { SchemaCheck, SchemaValidator } from '../../../application/ports/schema-validator.ts';
import type { SchemaError } from '../../../domain/gateway/tool-call-error.ts';
import { clip } from '../../../domain/values/clean-text.ts';
import type { JsonObject } from '../../../domain/values/json.ts';
import { requiredWithoutDefault } from './required-keyword.ts';
import { tolerate } from './tolerated-input.ts';

/** A larger schema takes too long to compile in the process that answers everyone. */
const MAX_SCHEMA_CHARACTERS = 64 * 1024;
/** Schemas with these keywords are not checked: the client's `Ajv` knows draft-07, not later dialects, and `$async` is its own keyword. */
const OTHER_DIALECT = /"(?:prefixItems|minContains|\$async)":/;
/** Keywords that are not checked, because some inputs would take seconds and the server checks them anyway. `required` is replaced. */
const LEFT_TO_SERVER = ['pattern', 'patternProperties', 'format', 'uniqueItems', 'required'];
/** The `RegExp` for the names in `patternProperties`, which `additionalProperties` reads on its own. */
const MATCHES_ANYTHING = Object.assign(() => ({ test: () => true }), { code: 'new RegExp' });
/** A value with more problems that a server may tolerate is left to the server. */
const MAX_TOLERATED = 100;
/** A path contains names from the input, which may be long. */
const MAX_PATH_LENGTH = 200;
/** A message contains all values that a schema allows. */
const MAX_MESSAGE_LENGTH = 2000;

type AjvInstance = InstanceType<typeof Ajv>;
type CheckValue = ReturnType<AjvInstance['compile']>;
type Problem = NonNullable<CheckValue['errors']>[number];

/** JSON Schema by the `Ajv` of the official client. A schema is compiled for its first value, and stays compiled while it exists. */
export class AjvSchemaValidator implements SchemaValidator {
  readonly #logger: Logger;
  /** One per server, because schemas of different servers may have the same ID. */
  readonly #ajvs = new Map<string, AjvInstance>();
  readonly #compiled = new WeakMap<JsonObject, CheckValue | 'unchecked'>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  validate(check: SchemaCheck): SchemaError | undefined {
    const { schema, value } = check;
    const compiled = this.#compiled.get(schema) ?? this.#compile(check);
    this.#compiled.set(schema, compiled);
    if (compiled === 'unchecked' || compiled(value)) return undefined;
    return problemOf(compiled, structuredClone(value));
  }

  #compile({ server, tool, schema }: SchemaCheck): CheckValue | 'unchecked' {
    const json = JSON.stringify(schema);
    if (json.length > MAX_SCHEMA_CHARACTERS || OTHER_DIALECT.test(json)) return 'unchecked';
    const ajv = this.#ajvs.get(server) ?? newAjv();
    this.#ajvs.set(server, ajv);
    try {
      return ajv.compile(schema);
    } catch (error) {
      this.#logger.warn(
        `gateway: a schema of ${server}/${tool} cannot be used, so values are not checked against it: ${error}`,
      );
      return 'unchecked';
    } finally {
      // Another schema may have the same ID. The compiled one is kept in `#compiled`.
      ajv.removeSchema(schema);
    }
  }
}

/** The first problem for which every server would refuse a value, which is a copy; undefined if a server may accept it. */
function problemOf(check: CheckValue, value: unknown): SchemaError | undefined {
  for (let tolerated = 0; tolerated < MAX_TOLERATED && !check(value); tolerated += 1) {
    const problems = check.errors ?? [];
    const [first] = problems;
    if (!problems.some((problem) => tolerate(value, problem))) return first && toSchemaError(first);
  }
  return undefined;
}

function newAjv(): AjvInstance {
  const ajv = new Ajv({
    strict: false,
    logger: false,
    meta: false,
    validateSchema: false,
    code: { regExp: MATCHES_ANYTHING },
  });
  for (const keyword of LEFT_TO_SERVER) ajv.removeKeyword(keyword);
  return ajv.addKeyword({ keyword: 'required', type: 'object', schemaType: 'array', compile: requiredWithoutDefault });
}

/** The error for a problem. Its path leads to the wrong member, even if this is missing or not allowed. */
function toSchemaError({ instancePath, params, message = 'is not valid', keyword }: Problem): SchemaError {
  const member: unknown = params.missingProperty;
  const path = typeof member === 'string' ? `${instancePath}/${escaped(member)}` : instancePath;
  return { path: clip(path, MAX_PATH_LENGTH), message: clip(wordsFor(keyword, params) ?? message, MAX_MESSAGE_LENGTH) };
}

function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

function wordsFor(keyword: string, params: Problem['params']): string | undefined {
  switch (keyword) {
    case 'required':
      return 'is required';
    case 'dependencies':
      return `is required with ${params.property}`;
    case 'false schema':
      return 'is not allowed';
    case 'enum':
      return `must be one of ${params.allowedValues.map((one: unknown) => JSON.stringify(one)).join(', ')}`;
    case 'const':
      return `must be ${JSON.stringify(params.allowedValue)}`;
    default:
      return undefined;
  }
}
