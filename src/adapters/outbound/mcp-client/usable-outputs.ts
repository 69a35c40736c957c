import type { GatewayTool } from '../../../domain/gateway/gateway-tool.ts';
import { rounded } from '../../../domain/values/exact-number.ts';

/** A larger schema takes too long to compile in the process that answers everyone. */
const MAX_SCHEMA_CHARACTERS = 64 * 1024;

/** The tools without the output schemas that clients cannot use: the official client of the earlier revisions refuses the whole list for one of them. */
export async function withUsableOutputs(tools: readonly GatewayTool[]): Promise<readonly GatewayTool[]> {
  if (tools.every(({ outputSchema }) => outputSchema === undefined)) return tools;
  const { Ajv, AjvJsonSchemaValidator } = await import('@modelcontextprotocol/client/validators/ajv');
  const earlier = new Ajv({ strict: false, validateSchema: false, logger: false });
  const current = new AjvJsonSchemaValidator();
  return tools.map((tool) => {
    const { outputSchema, ...others } = tool;
    if (outputSchema === undefined || JSON.stringify(outputSchema).length > MAX_SCHEMA_CHARACTERS) return tool;
    const schema = rounded(outputSchema);
    try {
      earlier.compile(schema);
      current.getValidator(schema);
      return tool;
    } catch {
      return others;
    }
  });
}
