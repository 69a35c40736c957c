import { Ajv, type ErrorObject, type Options } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { SchemaError } from '../../../domain/gateway/tool-call-error.ts';
import type { JsonObject } from '../../../domain/values/json.ts';

const OPTIONS: Options = {
  strict: false,
  allErrors: true,
  addUsedSchema: false,
  logger: false,
  validateSchema: false,
  // A copy for each reference could fill the memory.
  inlineRefs: false,
};
/** Of all patterns of a schema: each character may take kilobytes. */
const MAX_PATTERN_CHARACTERS = 32 * 1024;
/** What a class such as `\p{L}` counts: it takes 80 kB, which are not in the heap of the thread. */
const CLASS_CHARACTERS = 64;
const MAX_ERRORS = 20;
/** Paths contain names from the input, which may be long. */
const MAX_PATH_LENGTH = 200;
/** Messages contain the values that a schema allows. */
const MAX_MESSAGE_LENGTH = 2000;

/** Every problem of a value, up to a limit. */
export type CheckValue = (value: unknown) => readonly SchemaError[];

/**
 * A schema of version 2020-12, 2019-09, draft-07 or draft-06, compiled by ajv. Throws if it cannot be used, and so may the check.
 * `isPlain`: it is known to follow its version, and has neither formats nor references.
 */
export function compileSchema(schema: JsonObject, isPlain: boolean): CheckValue {
  const Version = versionOf(schema.$schema);
  // An instance per schema: IDs of different servers may be equal.
  const ajv = new Version({ ...OPTIONS, code: { regExp: limitedPatterns() }, ...(isPlain && { meta: false }) });
  if (!isPlain) {
    addFormats.default(ajv);
    ajv.validateSchema(schema, true);
  }
  const check = ajv.compile(schema);
  return (value) => {
    const matches: unknown = check(value);
    if (matches === true) return [];
    if (matches !== false) throw new Error('its check has no result');
    return (check.errors ?? []).slice(0, MAX_ERRORS).map((error) => {
      const { path, message } = toSchemaError(error);
      return { path: cut(path, MAX_PATH_LENGTH), message: cut(message, MAX_MESSAGE_LENGTH) };
    });
  };
}

/** Like `clip`, which is in the main module, and that would start the program in the thread. */
export function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1)}…`;
}

/** Patterns of a limited length together. Each is compiled where it is read, and its construction cannot be interrupted. */
function limitedPatterns() {
  let left = MAX_PATTERN_CHARACTERS;
  const regExp = (pattern: string, flags: string) => {
    left -= pattern.length + CLASS_CHARACTERS * (pattern.match(/\\p\{/gi)?.length ?? 0);
    if (left < 0) throw new Error(`its patterns have more than ${MAX_PATTERN_CHARACTERS} characters`);
    return new RegExp(pattern, flags);
  };
  return Object.assign(regExp, { code: 'new RegExp' });
}

function versionOf(name: unknown): typeof Ajv | typeof Ajv2019 | typeof Ajv2020 {
  if (/draft-0[67]/.test(String(name))) return Ajv;
  return String(name).includes('2019-09') ? Ajv2019 : Ajv2020;
}

/** The path leads to the member that is wrong, also if it is missing or not allowed. */
function toSchemaError({ instancePath, params, message = 'is not valid', keyword }: ErrorObject): SchemaError {
  const member = params.missingProperty ?? params.additionalProperty ?? params.unevaluatedProperty;
  const escaped = (name: string) => cut(name, MAX_PATH_LENGTH).replaceAll('~', '~0').replaceAll('/', '~1');
  const path = typeof member === 'string' ? `${instancePath}/${escaped(member)}` : instancePath;
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
