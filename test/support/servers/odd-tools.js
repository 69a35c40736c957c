// Tools that are not as MCP specifies, and results that are not, beside one that is right.
const OBJECT = { type: 'object' };
const text = (value) => [{ type: 'text', text: value }];

export const TOOLS = {
  right: { inputSchema: OBJECT, run: () => ({ content: text('right') }) },
  again: { name: 'right', description: 'Another tool of this name.' },
  boolean_property: { inputSchema: { type: 'object', properties: { a: true, b: { items: false } } } },
  null_members: { inputSchema: { properties: null, required: null }, annotations: { readOnlyHint: null }, _meta: null },
  no_schema: { inputSchema: undefined },
  odd_hints: { annotations: { readOnlyHint: 'yes', title: 1 }, icons: [{ src: 7 }, 'icon'], execution: [] },
  list_output: { outputSchema: { type: 'array', items: {} }, run: () => ({ content: [], structuredContent: [1, 2] }) },
  unusable_output: {
    outputSchema: { type: 'object', properties: { a: { type: 'string', pattern: '(?i)x' }, b: { $ref: '#/none' } } },
    run: () => ({ content: [], structuredContent: { a: 'x' } }),
  },
  other_meta: { _meta: { 'x/y': null }, other: { a: [null] } },
  not_an_object: { inputSchema: { type: 'string' } },
  '': {},
  odd_blocks: {
    run: () => ({
      content: [
        null,
        'plain',
        { text: 'without a type', annotations: null },
        { type: 'text', text: 'annotated', annotations: { priority: 9, lastModified: 'now' }, _meta: null },
        { type: 'image', data: '&', mimeType: null },
        { type: 'video', url: 'https://example.com/v' },
        { type: 'resource_link', uri: 'file:///a', size: '1' },
        { type: 'resource', resource: { uri: 'file:///a', text: { a: 1 } } },
      ],
      isError: null,
      structuredContent: null,
      _meta: null,
    }),
  },
  no_content: { run: () => ({ content: null, structuredContent: { a: null } }) },
};
