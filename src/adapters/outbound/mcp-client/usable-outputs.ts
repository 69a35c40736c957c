import type { GatewayTool } from '../../../domain/gateway/gateway-tool.ts';
import { rounded } from '../../../domain/values/exact-number.ts';

/** A larger schema takes too long to compile in the process that answers everyone. */
const MAX_SCHEMA_CHARACTERS = 64 * 1024;

/**
 * The tools without the output schemas that clients cannot use, and the names of tools that lost theirs: the official client of the earlier revisions
 * refuses the whole list for one of them.
 */
export async function withUsableOutputs(tools: readonly GatewayTool[]) {
  const unusable: string[] = [];
  if (tools.every(({ outputSchema }) => outputSchema === undefined)) return { tools, unusable };
  const { Ajv, AjvJsonSchemaValidator } = await import('@modelcontextprotocol/client/validators/ajv');
  const earlier = new Ajv({ strict: false, validateSchema: false, logger: false });
  const current = new AjvJsonSchemaValidator();
  const withUsable = (tool: GatewayTool): GatewayTool => {
    const { outputSchema, ...others } = tool;
    if (outputSchema === undefined || JSON.stringify(outputSchema).length > MAX_SCHEMA_CHARACTERS) return tool;
    const schema = rounded(outputSchema);
    try {
      // As in the client, a schema with the `$id` of another one is that schema.
      if (typeof schema.$id !== 'string' || earlier.getSchema(schema.$id) === undefined) earlier.compile(schema);
      current.getValidator(schema);
      return tool;
    } catch {
      unusable.push(tool.name);
      return others;
    }
  };
  return { tools: tools.map(withUsable), unusable };
}
