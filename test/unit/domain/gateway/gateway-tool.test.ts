import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isAllowed, parseTool } from '../../../../src/domain/gateway/gateway-tool.ts';

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

  test.each([
    ['a list', []],
    ['a tool without a name', { inputSchema }],
    ['an empty name', { name: '', inputSchema }],
    ['a tool without a schema', { name: 'read' }],
    ['a schema that is a boolean', { name: 'read', inputSchema: true }],
  ])('does not read %s', (_, value) => {
    expect(parseTool('files', value)).toBeUndefined();
  });
});

describe('isAllowed', () => {
  test.each([
    [{}, true],
    [{ allow: ['read_file'] }, true],
    [{ allow: [] }, false],
    [{ allow: ['*ad_fi*'] }, true],
    [{ allow: ['*read'] }, false],
    [{ deny: ['read*'] }, false],
    [{ allow: ['*'], deny: ['write*'] }, true],
  ])('with %j, read_file: %s', (filter, expected) => {
    expect(isAllowed('read_file', filter)).toBe(expected);
  });

  test('reads a name with characters of regular expressions as it is', () => {
    expect(isAllowed('a.b', { allow: ['a.b'] })).toBe(true);
    expect(isAllowed('axb', { allow: ['a.b', 'a.*'] })).toBe(false);
  });

  test('a denied tool is never allowed', () => {
    const pattern = fc.stringMatching(/^\*?[a-c_]{1,4}\*?$/);
    fc.assert(
      fc.property(fc.stringMatching(/^[a-c_]{1,8}$/), fc.array(pattern), fc.array(pattern), (name, allow, deny) => {
        const isDenied = !isAllowed(name, { deny });
        expect(isAllowed(name, { allow, deny })).toBe(isAllowed(name, { allow }) && !isDenied);
      }),
    );
  });
});
