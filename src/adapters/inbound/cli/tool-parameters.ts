import type { GatewayTool } from '../../../domain/gateway/gateway-tool.ts';
import { cleanLine, cleanText, clip } from '../../../domain/values/clean-text.ts';
import { isObject, type JsonObject } from '../../../domain/values/json.ts';

const MAX_TYPE = 200;

/** A tool with its complete description and one line per parameter. */
export function toolLines({ server, name, description, inputSchema }: GatewayTool): readonly string[] {
  const { properties, required } = inputSchema;
  const names = Array.isArray(required) ? required : [];
  const parameters = Object.entries(isObject(properties) ? properties : {}).map(([name, schema]) =>
    parameterLine(name, isObject(schema) ? schema : {}, names.includes(name)),
  );
  const title = cleanLine(`${server}/${name}`);
  const text = cleanText(description).trim();
  return [text === '' ? title : `${title}: ${text}`, ...(parameters.length === 0 ? ['  (no parameters)'] : parameters)];
}

function parameterLine(name: string, schema: JsonObject, isRequired: boolean): string {
  const about = [typeOf(schema)];
  if (schema.default !== undefined) about.push(`default ${JSON.stringify(schema.default)}`);
  else if (isRequired) about.push('required');
  const description = typeof schema.description === 'string' ? `: ${schema.description}` : '';
  return `  ${cleanLine(`${name} (${clip(about.join(', '), MAX_TYPE)})${description}`)}`;
}

/** The type of a value, for people; `any` if the schema names no simple type. */
function typeOf(schema: JsonObject): string {
  const { type, items, anyOf, oneOf } = schema;
  const choices = schema.const === undefined ? schema.enum : [schema.const];
  if (Array.isArray(choices)) return choices.map((choice) => JSON.stringify(choice)).join(' or ');
  const alternatives = anyOf ?? oneOf;
  if (Array.isArray(alternatives)) return alternatives.filter(isObject).map(typeOf).join(' or ') || 'any';
  if (type === 'array' && isObject(items)) return `list of ${typeOf(items)}`;
  if (Array.isArray(type)) return type.join(' or ');
  return typeof type === 'string' ? type : 'any';
}
