import { Validator } from '@seriousme/openapi-schema-validator';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toOpenApi } from '../../../../../src/adapters/inbound/http/openapi.ts';
import type { GatewayTool } from '../../../../../src/domain/gateway/gateway-tool.ts';
import type { JsonObject } from '../../../../../src/domain/values/json.ts';
import { anyCharacter } from '../../../../support/any-text.ts';
import { runs } from '../../../../support/sized.ts';

function tool(over: Partial<GatewayTool> = {}): GatewayTool {
  return { server: 'files', name: 'read', description: 'Reads.', inputSchema: { type: 'object' }, ...over };
}

interface Document {
  readonly paths: Readonly<Record<string, { readonly post: JsonObject & { readonly operationId: string } }>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonObject>> };
  readonly security: unknown;
}

function documentOf(tools: readonly GatewayTool[], requiresToken = true, only: string | null = null): Document {
  const document = toOpenApi({ tools, only, url: 'http://localhost', version: '1.2.3', requiresToken });
  return JSON.parse(JSON.stringify(document)) as Document;
}

const validator = new Validator();

/** The document is checked as a client receives it. */
async function expectValid(document: unknown): Promise<void> {
  const text = JSON.stringify(document);
  expect(await validator.validate(JSON.parse(text))).toEqual({ valid: true });
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
      'to definitions',
      { properties: { a: { $ref: '#/definitions/a' } }, definitions: { a: { type: 'string' } } },
      { properties: { a: { $ref: `${IN_DOCUMENT}/definitions/a` } }, definitions: { a: { type: 'string' } } },
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
    [
      'to other documents',
      { items: { $ref: 'https://example.com/other.json', title: 'x' } },
      { items: { title: 'x' } },
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
  const ODD = [
    'get weather',
    'get.weather',
    'get_weather',
    'get/weather',
    'a{b}',
    'a?b#c%d',
    '天気',
    '地震',
    'x'.repeat(200),
    `${'x'.repeat(199)}y`,
    '..',
    '\ud800',
  ];

  test('of any kind have a path and a unique ID', async () => {
    const document = documentOf(ODD.map((name) => tool({ name, outputSchema: { type: 'object' } })));
    await expectValid(document);
    const paths = Object.keys(document.paths);
    expect(paths).toHaveLength(ODD.length);
    expect(paths.slice(0, 7)).toEqual([
      '/mcp/tools/files/get%20weather',
      '/mcp/tools/files/get.weather',
      '/mcp/tools/files/get_weather',
      '/mcp/tools/files/get%2Fweather',
      '/mcp/tools/files/a%7Bb%7D',
      '/mcp/tools/files/a%3Fb%23c%25d',
      '/mcp/tools/files/%E5%A4%A9%E6%B0%97',
    ]);
    expect(Object.values(document.paths)[0]?.post.operationId).toBe('files__get_weather_163f2656');
    // An input and an output each, and the errors.
    expect(Object.keys(document.components.schemas)).toHaveLength(2 * ODD.length + 1);
  });

  test('always become unique IDs of at most 64 characters that generators accept', async () => {
    const names = fc.uniqueArray(fc.string({ unit: anyCharacter, minLength: 1, maxLength: 90 }), { maxLength: 20 });
    const odd = fc.uniqueArray(fc.string({ unit: fc.constantFrom('a', '.', '_', '天'), minLength: 1, maxLength: 3 }));
    fc.assert(
      fc.property(fc.oneof(names, odd), (names) => {
        const { paths } = documentOf(names.map((name) => tool({ name })));
        const ids = Object.values(paths).map(({ post }) => post.operationId);
        expect(new Set(ids).size).toBe(names.length);
        for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      }),
      { numRuns: runs(100) },
    );
  });

  test('a long title is cut, because importers refuse it', () => {
    const [path] = Object.values(documentOf([tool({ title: 'x'.repeat(400) })]).paths);
    expect(String(path?.post.summary)).toHaveLength(300);
  });
});
