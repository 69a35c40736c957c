import { Ajv } from '@modelcontextprotocol/client/validators/ajv';
import type { Logger } from '../../../application/ports/services.ts';
import type { SchemaCheck, SchemaValidator } from '../../../application/ports/tool-server.ts';
import type { SchemaError } from '../../../domain/gateway/tool-call-error.ts';
import { clip } from '../../../domain/values/clean-text.ts';
import { rounded } from '../../../domain/values/exact-number.ts';
import { isObject, type JsonObject, parseJson } from '../../../domain/values/json.ts';
import { memberOf, namesIn, targetOf, toPointerName } from '../../../domain/values/json-pointer.ts';

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
    const { schema } = check;
    const value = rounded(check.value);
    const compiled = this.#compiled.get(schema) ?? this.#compile(check);
    this.#compiled.set(schema, compiled);
    if (compiled === 'unchecked' || compiled(value)) return undefined;
    return problemOf(compiled, structuredClone(value));
  }

  #compile({ server, tool, schema: exact }: SchemaCheck): CheckValue | 'unchecked' {
    const schema = rounded(exact);
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
  const path = typeof member === 'string' ? `${instancePath}/${toPointerName(member)}` : instancePath;
  return { path: clip(path, MAX_PATH_LENGTH), message: clip(wordsFor(keyword, params) ?? message, MAX_MESSAGE_LENGTH) };
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

type KeywordDefinition = Exclude<Parameters<AjvInstance['addKeyword']>[0], string>;
type Compile = NonNullable<Extract<KeywordDefinition, { compile?: unknown }>['compile']>;
type Check = ReturnType<Compile>;

/** Maximum depth to which references to schemas are followed, because they may form a circle. */
const MAX_REFERENCES = 10;

/**
 * The keyword `required`, except for members whose schema has a default: zod declares them as required, because its output always has them,
 * but accepts inputs without them.
 */
const requiredWithoutDefault: Compile = (names: readonly string[], parent, { schemaEnv }): Check => {
  const members: unknown = parent.properties;
  const schemaOf = (name: string) => (isObject(members) && Object.hasOwn(members, name) ? members[name] : undefined);
  const required = names.filter((name) => !hasDefault(schemaOf(name), schemaEnv.root.schema, MAX_REFERENCES));
  const check: Check = (value: object) => {
    const missing = required.find((name) => !Object.hasOwn(value, name));
    if (missing === undefined) return true;
    check.errors = [{ keyword: 'required', params: { missingProperty: missing }, message: 'is required' }];
    return false;
  };
  return check;
};

function hasDefault(schema: unknown, root: unknown, left: number): boolean {
  if (!isObject(schema) || left === 0) return false;
  if (schema.default !== undefined) return true;
  return partsOf(schema, root).some((part) => hasDefault(part, root, left - 1));
}

/** The schemas that also apply to the value of a schema. */
function partsOf({ $ref, allOf, anyOf, oneOf }: JsonObject, root: unknown): readonly unknown[] {
  const referred = typeof $ref === 'string' && $ref !== '#' ? [targetOf($ref, root)] : [];
  return [...referred, ...[allOf, anyOf, oneOf].flat()];
}

const TRUE = ['true', '1', 'yes', 'on', 'y', 't'];
const FALSE = ['false', '0', 'no', 'off', 'n', 'f'];

/**
 * Removes a problem that a server may tolerate from `value`, which is a copy: many convert texts, and ignore members that they do not know. Returns
 * whether the problem was one of these.
 */
function tolerate(value: unknown, { instancePath, keyword, params }: Problem): boolean {
  const names = [...namesIn(instancePath)];
  if (keyword === 'additionalProperties') {
    const owner = names.reduce<unknown>(memberOf, value);
    return isObject(owner) && Reflect.deleteProperty(owner, String(params.additionalProperty));
  }
  const last = names.pop();
  const parent = names.reduce<unknown>(memberOf, value);
  if (last === undefined || typeof parent !== 'object' || parent === null) return false;
  const converted = convertedFor(keyword, params, memberOf(parent, last));
  return converted !== undefined && Reflect.set(parent, last, converted);
}

/** The value that a server may read in place of another one; undefined if no server would. */
function convertedFor(keyword: string, params: JsonObject, value: unknown): unknown {
  const { type, allowedValues } = params;
  if (keyword === 'enum' && Array.isArray(allowedValues))
    return allowedValues.find((allowed) => allowed !== value && isScalar(allowed) && String(allowed) === String(value));
  const types = keyword === 'type' ? [type].flat() : [];
  return types.map((one) => toType(one, value)).find((converted) => converted !== undefined);
}

function toType(type: unknown, value: unknown): unknown {
  const text = typeof value === 'string' ? value.trim() : undefined;
  switch (type) {
    case 'integer':
    case 'number': {
      const number = typeof value === 'boolean' || text ? Number(value) : Number.NaN;
      return Number.isFinite(number) && (type === 'number' || Number.isInteger(number)) ? number : undefined;
    }
    case 'boolean': {
      const word = (text ?? (typeof value === 'number' ? String(value) : '')).toLowerCase();
      return TRUE.includes(word) ? true : FALSE.includes(word) ? false : undefined;
    }
    case 'array':
    case 'object': {
      const json = text === undefined ? undefined : parseJson(text);
      return (type === 'array' ? Array.isArray(json) : isObject(json)) ? json : undefined;
    }
    default:
      return undefined;
  }
}

function isScalar(value: unknown): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}
