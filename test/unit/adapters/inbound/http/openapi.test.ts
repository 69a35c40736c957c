import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, test } from 'vitest';
import { toOpenApi } from '../../../../../src/adapters/inbound/http/openapi.ts';
import type { GatewayTool } from '../../../../../src/domain/gateway/gateway-tool.ts';
import type { JsonObject } from '../../../../../src/domain/values/json.ts';

function tool(over: Partial<GatewayTool> = {}): GatewayTool {
  return { server: 'files', name: 'read', description: 'Reads.', inputSchema: { type: 'object' }, ...over };
}

type Document = {
  readonly paths: Readonly<Record<string, { readonly post: JsonObject & { readonly operationId: string } }>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonObject>> };
  readonly security: unknown;
};

/** The document as a client receives it. */
function documentOf(tools: readonly GatewayTool[], requiresToken = true, only: string | null = null): Document {
  const document = toOpenApi({ tools, only, version: '1.2.3', requiresToken });
  return JSON.parse(JSON.stringify(document)) as Document;
}

async function expectValid(document: Document): Promise<void> {
  expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true });
}

const inputOf = (inputSchema: JsonObject) => documentOf([tool({ inputSchema })]).components.schemas.files__read_input;
const IN_DOCUMENT = '#/components/schemas/files__read_input';

test('describes a tool as one operation', async () => {
  const described = tool({
    title: 'Read a file',
    description: 'Reads a file.\nSlowly.',
    inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    outputSchema: { type: 'object', properties: { text: { type: 'string' } } },
  });
  const document = documentOf([described]);
  await expectValid(document);
  expect(document).toMatchObject({
    openapi: '3.1.0',
    info: { title: 'openai-responses-mcp', version: '1.2.3' },
    security: [{ bearer: [] }],
    components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
  });
  // A generated client can read the ID of the request, and every other detail.
  expect(document.components.schemas.Error).toHaveProperty('properties.error.properties.details', {
    type: 'object',
    properties: { requestId: { type: 'string' } },
    required: ['requestId'],
    additionalProperties: true,
  });
  expect(document.paths).toEqual({
    '/mcp/tools/files/read': {
      post: {
        operationId: 'files__read',
        tags: ['files'],
        summary: 'Read a file',
        description: 'Reads a file.\nSlowly.',
        requestBody: { required: true, content: { 'application/json': { schema: { $ref: IN_DOCUMENT } } } },
        responses: {
          200: {
            description: 'The result of the tool.',
            content: { 'application/json': { schema: { $ref: '#/components/schemas/files__read_output' } } },
          },
          422: { $ref: '#/components/responses/Error' },
          default: { $ref: '#/components/responses/Error' },
        },
      },
    },
  });
  expect(document.components.schemas).toMatchObject({
    files__read_input: described.inputSchema,
    files__read_output: described.outputSchema,
  });
});

test('is valid without tools, and says that no token is needed', async () => {
  const document = documentOf([], false);
  await expectValid(document);
  expect(document).toMatchObject({ paths: {}, security: [{}, { bearer: [] }] });
});

describe('references', () => {
  test.each<readonly [string, JsonObject, JsonObject]>([
    [
      'to $defs',
      { properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: { type: 'string' } } },
      { properties: { a: { $ref: `${IN_DOCUMENT}/$defs/a` } }, $defs: { a: { type: 'string' } } },
    ],
    [
      'to the schema itself',
      { properties: { children: { type: 'array', items: { $ref: '#' } } } },
      { properties: { children: { type: 'array', items: { $ref: IN_DOCUMENT } } } },
    ],
    [
      'to identifiers and anchors',
      { $id: 'https://example.com/tool', items: { $ref: '#here' }, not: { $ref: 'https://example.com/tool#/a' } },
      { items: {}, not: {} },
    ],
    [
      'of other kinds',
      { $dynamicAnchor: 'node', properties: { next: { $dynamicRef: '#node' } } },
      { properties: { next: {} } },
    ],
  ])('%s', async (_, inputSchema, expected) => {
    expect(inputOf(inputSchema)).toEqual(expected);
    await expectValid(documentOf([tool({ inputSchema, outputSchema: inputSchema })]));
  });

  test('are not the names of parameters', () => {
    const inputSchema = { properties: { $id: { type: 'string' }, $ref: { type: 'string' } } };
    expect(inputOf(inputSchema)).toEqual(inputSchema);
  });
});

test('of one server, it has the operations with the names that they have in that of all', async () => {
  const tools = [tool(), tool({ server: 'web' }), tool({ server: 'web', name: 'get it' })];
  const [all, one] = [documentOf(tools), documentOf(tools, true, 'web')];
  await expectValid(one);
  expect(Object.entries(one.paths)).toEqual(Object.entries(all.paths).slice(1));
});

test('schemas of other versions are accepted', async () => {
  const draft04 = {
    $schema: 'http://json-schema.org/draft-04/schema#',
    type: 'object',
    properties: { a: { type: 'number', minimum: 0, exclusiveMinimum: true } },
  };
  expect(inputOf(draft04)).toEqual({ type: 'object', properties: draft04.properties });
  await expectValid(documentOf([tool({ inputSchema: draft04 }), tool({ name: 'any', inputSchema: {} })]));
});

describe('names', () => {
  test('of any kind have a path and a unique ID', async () => {
    const names = ['get weather', 'get_weather', 'a{b}?#/%', '天気', '\ud800'];
    const document = documentOf(names.map((name) => tool({ name, outputSchema: { type: 'object' } })));
    await expectValid(document);
    expect(Object.keys(document.paths)).toEqual([
      '/mcp/tools/files/get%20weather',
      '/mcp/tools/files/get_weather',
      '/mcp/tools/files/a%7Bb%7D%3F%23%2F%25',
      '/mcp/tools/files/%E5%A4%A9%E6%B0%97',
      '/mcp/tools/files/%EF%BF%BD',
    ]);
    expect(Object.values(document.paths)[0]?.post.operationId).toBe('files__get_weather_163f2656');
    // An input and an output each, and the errors.
    expect(Object.keys(document.components.schemas)).toHaveLength(2 * names.length + 1);
  });

  test('a long title is cut, because importers refuse it', () => {
    const [path] = Object.values(documentOf([tool({ title: 'x'.repeat(400) })]).paths);
    expect(String(path?.post.summary)).toHaveLength(300);
  });
});
