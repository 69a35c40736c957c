import type { GatewayTool } from '../../../domain/gateway/gateway-tool.ts';
import { functionNames } from '../../../domain/gateway/unique-names.ts';
import { isObject, type JsonObject } from '../../../domain/values/json.ts';

interface OpenApiOptions {
  readonly tools: readonly GatewayTool[];
  /** The tool that `POST /mcp/check` calls, if the caller may. */
  readonly check?: GatewayTool | undefined;
  /** The server whose tools are described; null for all of them. */
  readonly only: string | null;
  /** The URL of this program, as the request names it. */
  readonly url: string;
  readonly version: string;
  readonly requiresToken: boolean;
}

const SCHEMAS = '#/components/schemas/';
/** GPT Actions accepts no longer summaries. */
const MAX_SUMMARY = 300;

/** An OpenAPI 3.1 document with one operation per tool, for programs that import it. */
export function toOpenApi({ tools, check, only, url, version, requiresToken }: OpenApiOptions): JsonObject {
  // The names are the same in the document of one server and in that of all.
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
    servers: [{ url }],
    // Without configured tokens, requests need none.
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
 * A schema as a part of the document at `pointer`: references within the schema (`#/$defs/x`) lead to the same place there. Other references
 * are removed, because programs refuse a document with one that leads nowhere; and so are identifiers, which change where references lead.
 */
export function toDocumentSchema(schema: unknown, pointer: string): unknown {
  if (Array.isArray(schema)) return schema.map((part) => toDocumentSchema(part, pointer));
  if (!isObject(schema)) return schema;
  const members = Object.entries(schema).flatMap(([key, value]): readonly (readonly [string, unknown])[] => {
    if (typeof value !== 'string' || !KEYWORDS.test(key)) return [[key, toDocumentSchema(value, pointer)]];
    return key === '$ref' && /^#(?:\/|$)/.test(value) ? [[key, `${pointer}${value.slice(1)}`]] : [];
  });
  return Object.fromEntries(members);
}

/** References and identifiers, if their value is a text: a parameter may have such a name. */
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
