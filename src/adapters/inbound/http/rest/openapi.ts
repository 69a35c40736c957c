import type { GatewayTool } from '../../../../domain/gateway/gateway-tool.ts';
import { functionNames } from '../../../../domain/gateway/unique-names.ts';
import type { JsonObject } from '../../../../domain/values/json.ts';
import { toDocumentSchema } from './document-schema.ts';

interface OpenApiOptions {
  readonly tools: readonly GatewayTool[];
  readonly version: string;
  readonly requiresToken: boolean;
  readonly toJson: (value: unknown) => string;
}

const SCHEMAS = '#/components/schemas/';
/** GPT Actions accepts no longer summaries. */
const MAX_SUMMARY = 300;

/**
 * An OpenAPI 3.1 document with one operation per tool, for programs that import it (ruling G16), as parts of a JSON text: a part takes a
 * moment, and the complete document of a thousand tools takes a second. Its `servers` depend on the request.
 */
export function* toOpenApi({ tools, version, requiresToken, toJson }: OpenApiOptions): Generator<string> {
  const ids = functionNames(tools);
  const membersOf = (object: JsonObject) => toJson(object).slice(1, -1);
  const head = {
    openapi: '3.1.0',
    info: {
      title: 'openai-responses-mcp',
      version,
      description: 'Answers with sources, and the tools of the configured MCP servers.',
    },
    // Without configured tokens, requests need none.
    security: requiresToken ? [{ bearer: [] }] : [{}, { bearer: [] }],
  };
  yield `{${membersOf(head)},"paths":{`;
  for (const [index, tool] of tools.entries())
    yield `${index > 0 ? ',' : ''}${membersOf({ [pathOf(tool)]: { post: toOperation(tool, ids[index] ?? '') } })}`;
  const shared = {
    securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
    responses: {
      Error: {
        description: 'The call failed.',
        content: { 'application/json': { schema: { $ref: `${SCHEMAS}Error` } } },
      },
    },
  };
  yield `},"components":{${membersOf(shared)},"schemas":{${membersOf({ Error: ERROR })}`;
  for (const [index, { inputSchema, outputSchema }] of tools.entries()) {
    const schemas = { [`${ids[index]}_input`]: inputSchema, [`${ids[index]}_output`]: outputSchema };
    for (const [name, schema] of Object.entries(schemas))
      if (schema !== undefined) yield `,${membersOf({ [name]: toDocumentSchema(schema, `${SCHEMAS}${name}`) })}`;
  }
  yield '}}}';
}

const ERROR = {
  type: 'object',
  properties: {
    success: { type: 'boolean', const: false },
    error: {
      type: 'object',
      properties: { code: { type: 'string' }, message: { type: 'string' }, details: { type: 'object' } },
      required: ['code', 'message', 'details'],
    },
  },
  required: ['success', 'error'],
};

function toOperation(tool: GatewayTool, id: string): JsonObject {
  const { name, title, description, outputSchema } = tool;
  const schema = outputSchema === undefined ? {} : { $ref: `${SCHEMAS}${id}_output` };
  return {
    operationId: id,
    tags: [tool.server],
    summary: (title ?? name).slice(0, MAX_SUMMARY),
    description,
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { $ref: `${SCHEMAS}${id}_input` } } },
    },
    responses: {
      200: { description: 'The result of the tool.', content: { 'application/json': { schema } } },
      422: { $ref: '#/components/responses/Error' },
      default: { $ref: '#/components/responses/Error' },
    },
  };
}

function pathOf({ server, name }: GatewayTool): string {
  // Braces would be a parameter of the path. A lone surrogate cannot be in a URL.
  return `/mcp/tools/${server}/${encodeURIComponent(name.toWellFormed())}`;
}
