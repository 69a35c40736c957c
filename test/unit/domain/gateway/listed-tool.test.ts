import { describe, expect, test } from 'vitest';
import { parseTool } from '../../../../src/domain/gateway/listed-tool.ts';

describe('parseTool', () => {
  const inputSchema = { type: 'object' };

  test('keeps what the server wrote', () => {
    const described = {
      name: 'read',
      title: 'Read a file',
      description: 'Reads.',
      inputSchema: { ...inputSchema, 'x-order': 1 },
      outputSchema: { type: 'object' },
      annotations: { readOnlyHint: true },
    };
    expect(parseTool('files', described)).toEqual({ server: 'files', ...described });
  });

  test('needs only a name and an input schema', () => {
    expect(parseTool('files', { name: 'read', inputSchema })).toEqual({
      server: 'files',
      name: 'read',
      description: '',
      inputSchema,
    });
  });

  test('ignores members of a wrong type', () => {
    const odd = { name: 'read', inputSchema, title: 1, description: null, outputSchema: true, annotations: [] };
    expect(parseTool('files', odd)).toEqual({ server: 'files', name: 'read', description: '', inputSchema });
  });

  // S77
  test.each([{ inputSchema: null }, {}, { inputSchema: true }, { inputSchema: [] }, { inputSchema: {} }])(
    'reads an absent schema as that of any object: %j',
    (described) => {
      expect(parseTool('files', { name: 'read', ...described })?.inputSchema).toEqual({ type: 'object' });
    },
  );

  test('keeps the other members of a tool whose hints, icons or output schema cannot be used', () => {
    const odd = {
      name: 'read',
      inputSchema,
      outputSchema: { type: 'array', items: {} },
      annotations: { readOnlyHint: 'yes', idempotentHint: true, title: null, extra: 1 },
      icons: [{ src: 1 }, { src: 'https://a/b.png', sizes: '48x48', theme: 'blue' }],
      execution: { taskSupport: 'required' },
      _meta: { x: null },
      other: { a: 1 },
    };
    expect(parseTool('files', odd)).toEqual({
      server: 'files',
      name: 'read',
      description: '',
      inputSchema,
      annotations: { idempotentHint: true, extra: 1 },
      icons: [{ src: 'https://a/b.png', sizes: ['48x48'] }],
      _meta: { x: null },
      other: { a: 1 },
    });
  });

  test.each([
    ['a list', []],
    ['a tool without a name', { inputSchema }],
    ['an empty name', { name: '', inputSchema }],
    ['a schema that allows nothing', { name: 'read', inputSchema: false }],
    ['a schema that is a text', { name: 'read', inputSchema: 'object' }],
    ['a schema of another type', { name: 'read', inputSchema: { type: 'array' } }],
  ])('does not read %s', (_, value) => {
    expect(parseTool('files', value)).toBeUndefined();
  });
});
