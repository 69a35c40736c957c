import { type GatewayTool, isReadOnly } from '../../../domain/gateway/gateway-tool.ts';
import { advised, type OwnCommand, quoted } from '../../../domain/gateway/own-command.ts';
import { cleanLine, cleanText, clip } from '../../../domain/values/clean-text.ts';
import { toJsonText } from '../../../domain/values/exact-number.ts';
import { isObject, type JsonObject } from '../../../domain/values/json.ts';
import { targetOf } from '../../../domain/values/json-pointer.ts';
import { skeletonOf } from '../schema-fields.ts';
import { EFFECTS } from '../words/server-messages.ts';

const MAX_TYPE = 200;
/** The depth to which members of members are shown, because a schema may contain itself. */
const MAX_DEPTH = 4;

/** A tool with its complete description, whether it only reads, one line per parameter, and a call that can be copied. */
export function toolLines(tool: GatewayTool, ownCommand: OwnCommand | undefined): readonly string[] {
  const { server, name, description, inputSchema } = tool;
  const title = cleanLine(`${server}/${name}`);
  const text = cleanText(description).trim();
  const parameters = memberLines(inputSchema, inputSchema, 1);
  const skeleton = toJsonText(skeletonOf(inputSchema, inputSchema));
  const words = [server, name, ...(skeleton === '{}' || skeleton === 'null' ? [] : [skeleton])];
  return [
    text === '' ? title : `${title}: ${text}`,
    ...(parameters.length === 0 ? ['  (no parameters)'] : parameters),
    isReadOnly(tool) ? EFFECTS.none : EFFECTS.possible,
    `Call it with: ${cleanLine(advised(['call', ...words.map(quoted)].join(' '), ownCommand))}`,
  ];
}

/** The members of an object, or of the objects in a list, each followed by its own members. */
function memberLines(schema: unknown, root: JsonObject, depth: number): readonly string[] {
  const { type, properties, required, items } = followed(schema, root);
  if (depth > MAX_DEPTH) return [];
  if (type === 'array' || (properties === undefined && items !== undefined)) return memberLines(items, root, depth);
  const names: readonly unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(isObject(properties) ? properties : {}).flatMap(([name, member]) => [
    `${'  '.repeat(depth)}${parameterLine(name, followed(member, root), names.includes(name), root)}`,
    ...memberLines(member, root, depth + 1),
  ]);
}

function parameterLine(name: string, schema: JsonObject, isRequired: boolean, root: JsonObject): string {
  const about = [typeOf(schema, root)];
  if (schema.default !== undefined) about.push(`default ${toJsonText(schema.default)}`);
  else if (isRequired) about.push('required');
  const description = typeof schema.description === 'string' ? `: ${schema.description}` : '';
  return cleanLine(`${name} (${clip(about.join(', '), MAX_TYPE)})${description}`);
}

/** A schema, or the one to which it refers, with its own members. */
function followed(schema: unknown, root: JsonObject, depth = 0): JsonObject {
  if (!isObject(schema)) return {};
  const { $ref, ...members } = schema;
  if (typeof $ref !== 'string' || depth > MAX_DEPTH) return schema;
  return { ...followed(targetOf($ref, root), root, depth + 1), ...members };
}

/** The type of a value, for people; `any` if the schema names no simple type. */
function typeOf(schema: JsonObject, root: JsonObject, depth = 0): string {
  const { type, items, anyOf, oneOf } = schema;
  const inner = (part: unknown) => typeOf(followed(part, root), root, depth + 1);
  const choices = schema.const === undefined ? schema.enum : [schema.const];
  if (Array.isArray(choices)) return choices.map((choice) => toJsonText(choice)).join(' or ');
  const alternatives = anyOf ?? oneOf;
  if (depth > MAX_DEPTH) return 'any';
  if (Array.isArray(alternatives)) return alternatives.filter(isObject).map(inner).join(' or ') || 'any';
  if (type === 'array' && isObject(items)) return `list of ${inner(items)}`;
  if (Array.isArray(type)) return type.join(' or ');
  return typeof type === 'string' ? type : 'any';
}
