import type { GatewayTool } from '../../../../domain/gateway/gateway-tool.ts';
import { functionNames } from '../../../../domain/gateway/unique-names.ts';
import type { JsonObject } from '../../../../domain/values/json.ts';
import { toDocumentSchema } from './document-schema.ts';

interface OpenApiOptions {
  readonly tools: readonly GatewayTool[];
  readonly version: string;
  readonly requiresToken: boolean;
}

const SCHEMAS = '#/components/schemas/';
/** GPT Actions accepts no longer summaries. */
const MAX_SUMMARY = 300;

/** An OpenAPI 3.1 document with one operation per tool, for programs that import it (ruling G16). Its `servers` depend on the request. */
export function toOpenApi({ tools, version, requiresToken }: OpenApiOptions): JsonObject {
  const ids = functionNames(tools);
  const operations = tools.map((tool, index) => ({ id: ids[index] ?? '', tool }));
  const schemas = operations.flatMap(({ tool, id }) => [
    [`${id}_input`, toDocumentSchema(tool.inputSchema, `${SCHEMAS}${id}_input`)],
    ...(tool.outputSchema ? [[`${id}_output`, toDocumentSchema(tool.outputSchema, `${SCHEMAS}${id}_output`)]] : []),
  ]);
  return {
    openapi: '3.1.0',
    info: {
      title: 'openai-responses-mcp',
      version,
      description: 'Answers with sources, and the tools of the configured MCP servers.',
    },
    // Without configured tokens, requests need none.
    security: requiresToken ? [{ bearer: [] }] : [{}, { bearer: [] }],
    paths: Object.fromEntries(operations.map(({ tool, id }) => [pathOf(tool), { post: toOperation(tool, id) }])),
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: { ...Object.fromEntries(schemas), Error: ERROR },
      responses: {
        Error: {
          description: 'The call failed.',
          content: { 'application/json': { schema: { $ref: `${SCHEMAS}Error` } } },
        },
      },
    },
  };
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
