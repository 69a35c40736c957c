import { isNestedDeeper, isObject, type JsonObject } from '../values/json.ts';

/** Maximum number of levels of a schema, the first included. */
const MAX_DEPTH = 33;
const MAX_BYTES = 64 * 1024;

/** Keywords that the API does not accept at the top level. */
const REFUSED = ['oneOf', 'anyOf', 'allOf', 'enum', 'not'];

/** A copy of a tool's input schema that the API accepts, with a note for the model about removed keywords; undefined if the schema is too large. */
export function toFunctionSchema(schema: JsonObject) {
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

/** Whether a schema is small enough, checked first, because a conversion needs stack for each level. */
function isBounded(schema: JsonObject): boolean {
  return !isNestedDeeper(schema, MAX_DEPTH) && new TextEncoder().encode(JSON.stringify(schema)).length <= MAX_BYTES;
}
