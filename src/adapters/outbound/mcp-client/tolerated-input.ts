import { isObject, type JsonObject, parseJson } from '../../../domain/values/json.ts';

/** A problem of a value, as `Ajv` reports it. */
interface Problem {
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: JsonObject;
}

const TRUE = ['true', '1', 'yes', 'on', 'y', 't'];
const FALSE = ['false', '0', 'no', 'off', 'n', 'f'];

/**
 * Removes a problem that a server may tolerate from `value`, which is a copy: many convert texts, and ignore members that they do not know. Returns
 * whether the problem was one of these.
 */
export function tolerate(value: unknown, { instancePath, keyword, params }: Problem): boolean {
  const names = instancePath.split('/').slice(1).map(unescaped);
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

function memberOf(owner: unknown, name: string): unknown {
  return typeof owner === 'object' && owner !== null && Object.hasOwn(owner, name)
    ? (owner as JsonObject)[name]
    : undefined;
}

function unescaped(name: string): string {
  return name.replaceAll('~1', '/').replaceAll('~0', '~');
}
