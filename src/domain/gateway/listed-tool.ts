import { writable } from '../values/exact-number.ts';
import { isObject, withoutUndefined } from '../values/json.ts';
import type { GatewayTool } from './gateway-tool.ts';
import { BOOLEAN, ENTRY, inForm, objectOf, TEXT } from './member-forms.ts';
import { toObjectSchema } from './served-schema.ts';

/** Reads an entry of `tools/list`; undefined if it has no name, or takes something other than an object. */
export function parseTool(server: string, listed: unknown): GatewayTool | undefined {
  const value = writable(listed);
  if (!isObject(value) || typeof value.name !== 'string' || value.name === '') return undefined;
  const inputSchema = toObjectSchema(value.inputSchema);
  if (inputSchema === undefined) return undefined;
  // Tasks of a server are not passed on.
  const { execution: _, outputSchema, description, ...members } = inForm(value, TOOL);
  return withoutUndefined({
    ...members,
    server,
    name: value.name,
    description: typeof description === 'string' ? description : '',
    inputSchema,
    outputSchema: isObject(outputSchema) ? toObjectSchema(outputSchema) : undefined,
  });
}

const HINTS = { readOnlyHint: BOOLEAN, destructiveHint: BOOLEAN, idempotentHint: BOOLEAN, openWorldHint: BOOLEAN };
const TOOL = { ...ENTRY, annotations: objectOf({ title: TEXT, ...HINTS }) };
