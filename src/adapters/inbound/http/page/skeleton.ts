import { isObject, type JsonObject } from '../../../../domain/values/json.ts';
import { requiredBy, simplified } from './schema.ts';

/** Maximum depth of a skeleton, because a schema may contain itself. */
const MAX_DEPTH = 5;

/** An example of a value for a schema. An object has the required properties, or all if none is required. */
export function skeletonOf(schema: unknown, root: JsonObject, depth = 0): unknown {
  const { type, values, options, members } = simplified(schema, root);
  if (members.default !== undefined && members.default !== null) return members.default;
  if (values !== undefined) return values[0];
  const inner = (part: unknown) => skeletonOf(part, root, depth + 1);
  switch (type ?? (isObject(members.properties) ? 'object' : undefined)) {
    case 'object':
      return depth < MAX_DEPTH ? properties(members, inner) : {};
    case 'array':
      return depth < MAX_DEPTH && isObject(members.items) ? [inner(members.items)] : [];
    case 'string':
      return '';
    case 'number':
    case 'integer':
      return typeof members.minimum === 'number' ? members.minimum : 0;
    case 'boolean':
      return false;
    default:
      return depth < MAX_DEPTH && options.length > 0 ? inner(options[0]) : null;
  }
}

function properties(members: JsonObject, inner: (part: unknown) => unknown): unknown {
  const all = isObject(members.properties) ? Object.entries(members.properties) : [];
  const required = all.filter(([name]) => requiredBy(members).includes(name));
  return Object.fromEntries((required.length > 0 ? required : all).map(([name, part]) => [name, inner(part)]));
}
