import type { ErrorObject, Params } from '../../src/adapters/inbound/mcp/json-rpc.ts';

export interface FixtureTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Params;
  /** It can report progress, and returns a result or a protocol error. */
  readonly call: (
    meta: Params,
    reportProgress: (progress: number, total: number) => void,
  ) => { readonly result: Params } | { readonly error: ErrorObject };
}

export const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';
const TEXT = { type: 'text', text: 'This is a simple text response for testing.' };
const IMAGE = { type: 'image', data: PNG, mimeType: 'image/png' };
const AUDIO = { type: 'audio', data: WAV, mimeType: 'audio/wav' };
const RESOURCE = {
  type: 'resource',
  resource: { uri: 'test://embedded-resource', mimeType: 'text/plain', text: 'This is an embedded resource.' },
};

/** The tools that the official suite calls by name, with the behavior that it expects of each. */
export const FIXTURE_TOOLS: readonly FixtureTool[] = [
  answering('test_simple_text', [TEXT]),
  answering('test_image_content', [IMAGE]),
  answering('test_audio_content', [AUDIO]),
  answering('test_embedded_resource', [RESOURCE]),
  answering('test_multiple_content_types', [TEXT, IMAGE, RESOURCE]),
  answering('test_streaming_elicitation', [TEXT]),
  answering('test_logging_tool', [TEXT]),
  {
    ...plain('test_error_handling'),
    call: () => ({
      result: { content: [{ type: 'text', text: 'This tool intentionally fails.' }], isError: true },
    }),
  },
  {
    ...plain('test_tool_with_progress'),
    call: (_, reportProgress) => {
      for (const progress of [0, 50, 100]) reportProgress(progress, 100);
      return { result: { content: [TEXT] } };
    },
  },
  {
    ...plain('test_missing_capability'),
    call: (meta) => {
      const capabilities = meta['io.modelcontextprotocol/clientCapabilities'] as Params | undefined;
      if (capabilities?.sampling !== undefined) return { result: { content: [TEXT] } };
      const data = { requiredCapabilities: { sampling: {} } };
      return { error: { code: -32021, message: 'Missing required client capability: sampling', data } };
    },
  },
  {
    ...answering('json_schema_2020_12_tool', [TEXT]),
    inputSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: {
          $anchor: 'addressDef',
          type: 'object',
          properties: { street: { type: 'string' }, city: { type: 'string' } },
        },
      },
      properties: {
        name: { type: 'string' },
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: { type: 'string' },
        email: { type: 'string' },
      },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
      then: { required: ['phone'] },
      else: { required: ['email'] },
      additionalProperties: false,
    },
  },
];

function plain(name: string) {
  return { name, description: `${name}, for the conformance suite.`, inputSchema: { type: 'object' } };
}

function answering(name: string, content: readonly Params[]): FixtureTool {
  return { ...plain(name), call: () => ({ result: { content } }) };
}
