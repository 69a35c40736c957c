// For the tests of the page: tools with every kind of input, results of every kind, and a hostile tool.

/** Text that must be shown as text wherever it is. */
const { HOSTILE = 'hostile' } = process.env;

/** A red square of 2 by 2 pixels. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg==';

const text = (text) => ({ content: [{ type: 'text', text }] });

const FORM = {
  type: 'object',
  properties: {
    title: { type: 'string', description: 'A short text' },
    message: { type: 'string', title: 'Long', default: 'one\ntwo' },
    count: { type: 'integer', minimum: 1, maximum: 9 },
    ratio: { anyOf: [{ type: 'number' }, { type: 'null' }] },
    color: { type: 'string', enum: ['red', 'green'] },
    size: {
      oneOf: [
        { const: 1, title: 'small' },
        { const: 2, title: 'large' },
      ],
    },
    kind: { const: 'fixed' },
    isOn: { type: 'boolean', default: true },
    isMaybe: { type: 'boolean' },
    tags: { type: 'array', items: { type: 'string' } },
    point: { $ref: '#/$defs/point' },
  },
  required: ['title', 'kind', 'isOn'],
  $defs: { point: { type: 'object', properties: { x: { type: 'number' } }, description: 'A place' } },
};

/** An input without a list of properties: a union, with a list of objects. */
const UNION = {
  anyOf: [
    {
      type: 'object',
      properties: { orders: { type: 'array', items: { $ref: '#/$defs/order' } } },
      required: ['orders'],
    },
    { type: 'object', properties: { all: { const: true } } },
  ],
  $defs: { order: { type: 'object', properties: { id: { type: 'integer', minimum: 1 }, note: { type: 'string' } } } },
};

/** Schemas whose members have the wrong types. */
const BROKEN_FORM = {
  type: 'object',
  properties: {
    a: { type: 'string', default: { toString: 1 }, title: { x: 1 } },
    b: { enum: [{ toString: 1 }, null], default: 7 },
    c: { $ref: '#/%' },
    d: true,
  },
  required: 'a',
};

export const greet = () => ({ serverInfo: { name: 'page-tools', title: HOSTILE, version: '1.0.0' } });

export const TOOLS = {
  form: {
    description: 'Returns its input',
    inputSchema: FORM,
    run: (input) => ({ content: [], structuredContent: input }),
  },
  union: { inputSchema: { type: 'object', ...UNION }, run: (input) => ({ content: [], structuredContent: input }) },
  media: {
    run: () => ({
      content: [
        { type: 'text', text: 'Two links and pictures' },
        { type: 'resource_link', uri: 'https://example.com/doc', name: 'A document', mimeType: 'text/html' },
        { type: 'resource_link', uri: 'https://bank.example:secret@example.com/user', name: 'Another document' },
        { type: 'resource_link', uri: 'postgres://user:secret@db.example/data', name: 'A database' },
        { type: 'resource_link', uri: 'javascript:globalThis.isTaken=true', name: 'No page' },
        { type: 'image', mimeType: 'image/png', data: PNG },
        { type: 'image', mimeType: 'image/svg+xml', data: btoa('<svg xmlns="http://www.w3.org/2000/svg"/>') },
        { type: 'image', mimeType: 'image/png', data: '"onerror=x' },
        { type: 'audio', mimeType: 'audio/wav', data: 'UklGRg==' },
        { type: 'resource', resource: { uri: 'file:///a.txt', text: 'The text of a resource' } },
      ],
    }),
  },
  long: { title: 'W'.repeat(150), description: 'w'.repeat(150), run: () => text('x'.repeat(60_000)) },
  fails: { run: () => ({ ...text('No such city'), isError: true }) },
  refuses: { error: { code: -32050, message: 'Not today', data: { hint: 'Come back tomorrow' } } },
  crashes: { run: () => process.exit(7) },
  broken_form: { inputSchema: BROKEN_FORM, run: () => text('called') },
  [HOSTILE]: {
    title: HOSTILE,
    description: `${HOSTILE} \u202Edesrever`,
    annotations: { title: HOSTILE, readOnlyHint: HOSTILE },
    inputSchema: {
      type: 'object',
      properties: {
        [HOSTILE]: { type: 'string', title: HOSTILE, description: HOSTILE, default: HOSTILE },
        choice: { enum: [HOSTILE], description: HOSTILE },
      },
    },
    run: () => ({
      content: [
        { type: 'text', text: HOSTILE },
        { type: 'resource_link', uri: HOSTILE, name: HOSTILE, description: HOSTILE },
        { type: HOSTILE, text: HOSTILE },
        { type: 'resource', resource: { uri: { toString: 1 }, text: HOSTILE } },
        { type: 'image', mimeType: `image/png;${HOSTILE}`, data: PNG },
      ],
      structuredContent: { [HOSTILE]: HOSTILE, innerHTML: HOSTILE },
    }),
  },
};
