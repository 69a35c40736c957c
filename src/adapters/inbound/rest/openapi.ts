import { exposedName } from '../../../domain/exposed-name.ts';
import type { GatewayTool } from '../../../domain/gateway-tool.ts';
import { isObject, type JsonObject } from '../../../domain/json.ts';

interface OpenApiOptions {
  readonly tools: readonly GatewayTool[];
  readonly version: string;
  /** The URL of the server, without a path. */
  readonly url: string;
  readonly requiresToken: boolean;
}

const SCHEMAS = '#/components/schemas/';
/** GPT Actions accepts no longer summaries. */
const MAX_SUMMARY = 300;

/** An OpenAPI 3.1 document with one operation per tool, for programs that import it (ruling G16). */
export function toOpenApi({ tools, version, url, requiresToken }: OpenApiOptions): JsonObject {
  const operations = tools.map((tool) => ({ tool, id: operationId(tool) }));
  const schemas = operations.flatMap(({ tool, id }) => [
    [`${id}_input`, withDocumentRefs(tool.inputSchema, `${SCHEMAS}${id}_input`)],
    ...(tool.outputSchema ? [[`${id}_output`, withDocumentRefs(tool.outputSchema, `${SCHEMAS}${id}_output`)]] : []),
  ]);
  return {
    openapi: '3.1.0',
    info: {
      title: 'openai-responses-mcp',
      version,
      description: 'Answers with sources, and the tools of the configured MCP servers.',
    },
    servers: [{ url }],
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

/** Letters, digits, `_` and `-`, as generators of clients require. */
function operationId({ server, name }: GatewayTool): string {
  return exposedName(server, name).replace(/[^a-zA-Z0-9_-]/g, '_');
}

function pathOf({ server, name }: GatewayTool): string {
  // Braces would be a parameter of the path.
  return `/mcp/tools/${server}/${encodeURIComponent(name)}`;
}

/** References within the schema (`#/$defs/x`) lead to the same place in the document. Identifiers would change what they refer to. */
function withDocumentRefs(schema: unknown, base: string): unknown {
  if (Array.isArray(schema)) return schema.map((entry) => withDocumentRefs(entry, base));
  if (!isObject(schema)) return schema;
  const members = Object.entries(schema).filter(([key, value]) => !IDENTIFIERS.has(key) || typeof value !== 'string');
  return Object.fromEntries(
    members.map(([key, value]) => {
      const isLocalRef =
        (key === '$ref' || key === '$dynamicRef') && typeof value === 'string' && value.startsWith('#');
      return [key, isLocalRef ? `${base}${value.slice(1)}` : withDocumentRefs(value, base)];
    }),
  );
}

const IDENTIFIERS = new Set(['$id', '$schema', '$anchor', '$dynamicAnchor']);
