import { isObject, type JsonObject } from './json.ts';

/** A schema as the API accepts it for a function, and what was removed from it, in words for the model. */
interface FunctionSchema {
  readonly parameters: JsonObject;
  readonly note: string;
}

const MAX_NODES = 20_000;
const MAX_DEPTH = 32;
const MAX_BYTES = 64 * 1024;

/** The API does not accept these at the top level. */
const REFUSED = ['oneOf', 'anyOf', 'allOf', 'enum', 'not'];

/** A copy of a tool's input schema that the API accepts; undefined if it is too large (ruling L4). */
export function toFunctionSchema(schema: JsonObject): FunctionSchema | undefined {
  if (!isBounded(schema)) return undefined;
  const { $schema: _, $id: _id, ...rest } = schema;
  const removed = Object.entries(rest).filter(([key]) => REFUSED.includes(key));
  const kept = Object.fromEntries(Object.entries(rest).filter(([key]) => !REFUSED.includes(key)));
  const properties = isObject(kept.properties) ? kept.properties : {};
  const parameters = { ...kept, type: 'object', properties };
  const note =
    removed.length === 0 ? '' : `Constraints: ${JSON.stringify(Object.fromEntries(removed)).slice(0, MAX_NOTE)}`;
  return { parameters, note };
}

const MAX_NOTE = 300;

/** Counts nodes and depth before anything recursive is done with the schema. */
function isBounded(schema: JsonObject): boolean {
  let level: readonly unknown[] = [schema];
  let nodes = 0;
  for (let depth = 0; level.length > 0; depth += 1) {
    nodes += level.length;
    if (depth > MAX_DEPTH || nodes > MAX_NODES) return false;
    level = level.flatMap((node) => (typeof node === 'object' && node !== null ? Object.values(node) : []));
  }
  return utf8Length(JSON.stringify(schema)) <= MAX_BYTES;
}

function utf8Length(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const isHalf = code >= 0xd800 && code <= 0xdfff;
    if (code >= 0x80) bytes += code < 0x800 || isHalf ? 1 : 2;
  }
  return bytes;
}
