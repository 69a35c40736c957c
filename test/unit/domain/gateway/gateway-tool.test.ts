import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type GatewayTool,
  isAllowed,
  override,
  type ToolOverrides,
} from '../../../../src/domain/gateway/gateway-tool.ts';
import { fakeTool } from '../../../support/fake-tool-server.ts';

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

const toolOf = (name: string, more: Partial<GatewayTool> = {}) => fakeTool(name, { server: 'notes', ...more });
/** The names for callers, each with the name that the server knows. */
function namesOf(names: readonly string[], overrides: ToolOverrides) {
  const { tools, problems } = override(
    names.map((name) => toolOf(name)),
    overrides,
  );
  return { names: tools.map(({ tool, own }) => `${tool.name}=${own.name}`), problems };
}

test('without overrides, tools are what the server says', () => {
  const tools = [toolOf('a', { title: 'A' }), toolOf('constructor')];
  expect(override(tools, {})).toEqual({ tools: tools.map((tool) => ({ tool, own: tool })), problems: [] });
});

test('renames happen at once, so that names can be exchanged', () => {
  expect(namesOf(['a', 'b'], { rename: { a: 'b', b: 'a' } })).toEqual({ names: ['b=a', 'a=b'], problems: [] });
  expect(namesOf(['a', 'b'], { rename: { a: 'b', b: 'c' } })).toEqual({ names: ['b=a', 'c=b'], problems: [] });
});

test('a renamed tool has its name, and another tool of that name does not exist', () => {
  expect(namesOf(['a', 'b'], { rename: { a: 'b' } })).toEqual({
    names: ['b=a'],
    problems: ['its own tool b does not exist: another is renamed to b'],
  });
});

test('a name that no tool has is a problem', () => {
  expect(namesOf(['b'], { rename: { a: 'b' }, describe: { a: 'x', toString: 'y' } })).toEqual({
    names: ['b=b'],
    problems: [
      'there is no tool a (tools.rename)',
      'there is no tool a (tools.describe)',
      'there is no tool toString (tools.describe)',
    ],
  });
});

test('descriptions and hints are for new names; the title and other hints stay', () => {
  const tools = [toolOf('a', { title: 'A', annotations: { openWorldHint: true, destructiveHint: true } }), toolOf('b')];
  const overrides = { rename: { a: 'get_a' }, describe: { get_a: 'Gets.' }, readOnly: ['get_*', 'a'] };
  expect(override(tools, overrides).tools.map(({ tool }) => tool)).toEqual([
    toolOf('get_a', {
      title: 'A',
      description: 'Gets.',
      annotations: { openWorldHint: true, readOnlyHint: true, destructiveHint: false },
    }),
    toolOf('b'),
  ]);
});

test('no two tools have the same name', () => {
  const name = fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor');
  const renames = fc.uniqueArray(fc.tuple(name, name), { selector: ([, name]) => name });
  fc.assert(
    fc.property(fc.uniqueArray(name), renames, (names, rename) => {
      const { tools } = override(
        names.map((name) => toolOf(name)),
        { rename: Object.fromEntries(rename) },
      );
      expect(new Set(tools.map(({ tool }) => tool.name)).size).toBe(tools.length);
    }),
  );
});
