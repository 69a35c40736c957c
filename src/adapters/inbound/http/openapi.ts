import type { GatewayTool } from '../../../domain/gateway/gateway-tool.ts';
import { functionNames } from '../../../domain/gateway/unique-names.ts';
import { isObject, type JsonObject } from '../../../domain/values/json.ts';

interface OpenApiOptions {
  readonly tools: readonly GatewayTool[];
  /** The tool that `POST /mcp/check` calls, if the caller may use it. */
  readonly check?: GatewayTool | undefined;
  /** The server whose tools are described; null for all servers. */
  readonly only: string | null;
  readonly version: string;
  readonly requiresToken: boolean;
}

const SCHEMAS = '#/components/schemas/';
/** Maximum length of a summary that GPT Actions accepts. */
const MAX_SUMMARY = 300;

/** An OpenAPI 3.1 document with one operation per tool, for programs that import it. */
export function toOpenApi({ tools, check, only, version, requiresToken }: OpenApiOptions): JsonObject {
  // Names are made from all tools, so that they are the same in the document of one server.
  const ids = functionNames(tools);
  const operations = [
    ...tools.map((tool, index) => ({ tool, id: ids[index] ?? '', path: pathOf(tool) })),
    ...(check === undefined ? [] : [{ tool: check, id: 'check', path: '/mcp/check' }]),
  ].filter(({ tool }) => only === null || tool.server === only);
  return {
    openapi: '3.1.0',
    info: {
      title: 'openai-responses-mcp',
      version,
      description: 'Answers with sources, and the tools of the configured MCP servers.',
    },
    // The folder of the document, which is right for every proxy, host and prefix.
    servers: [{ url: '.' }],
    // An empty object makes the token optional.
    security: requiresToken ? [{ bearer: [] }] : [{}, { bearer: [] }],
    paths: Object.fromEntries(operations.map(({ tool, id, path }) => [path, { post: toOperation(tool, id) }])),
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      responses: {
        Error: {
          description: 'The call failed.',
          content: { 'application/json': { schema: { $ref: `${SCHEMAS}Error` } } },
        },
      },
      schemas: Object.fromEntries([['Error', ERROR], ...operations.flatMap(({ tool, id }) => schemasOf(tool, id))]),
    },
  };
}

/**
 * Adapts a schema that becomes the part of the document at `pointer`: references within the schema (`#/$defs/x`) get this prefix. Other references
 * are removed, because programs refuse a document with a reference that leads nowhere. So are identifiers, which change the base of references.
 */
function toDocumentSchema(schema: unknown, pointer: string): unknown {
  if (Array.isArray(schema)) return schema.map((part) => toDocumentSchema(part, pointer));
  if (!isObject(schema)) return schema;
  const members = Object.entries(schema).flatMap(([key, value]): readonly (readonly [string, unknown])[] => {
    if (typeof value !== 'string' || !KEYWORDS.test(key)) return [[key, toDocumentSchema(value, pointer)]];
    return key === '$ref' && /^#(?:\/|$)/.test(value) ? [[key, `${pointer}${value.slice(1)}`]] : [];
  });
  return Object.fromEntries(members);
}

/** References and identifiers. They count only if their value is a string, because a parameter may have such a name. */
const KEYWORDS = /^\$(?:ref|dynamicRef|recursiveRef|id|schema|anchor|dynamicAnchor)$/;

function schemasOf({ inputSchema, outputSchema }: GatewayTool, id: string): readonly (readonly [string, unknown])[] {
  const schemas = [[`${id}_input`, inputSchema] as const, [`${id}_output`, outputSchema] as const];
  return schemas
    .filter(([, schema]) => schema !== undefined)
    .map(([name, schema]) => [name, toDocumentSchema(schema, `${SCHEMAS}${name}`)]);
}

const ERROR = {
  type: 'object',
  properties: {
    success: { type: 'boolean', const: false },
    error: {
      type: 'object',
      properties: {
        code: { type: 'string' },
        message: { type: 'string' },
        details: {
          type: 'object',
          properties: { requestId: { type: 'string' } },
          required: ['requestId'],
          additionalProperties: true,
        },
      },
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
  // Unencoded braces would be a parameter of the path. A URL cannot contain a lone surrogate.
  return `/mcp/tools/${server}/${encodeURIComponent(name.toWellFormed())}`;
}
