import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type ApprovedTools,
  approve,
  changeOf,
  differences,
  lockText,
  numberOfTools,
  parseLock,
} from '../../../../src/domain/gateway/approved-tools.ts';
import type { GatewayTool } from '../../../../src/domain/gateway/gateway-tool.ts';
import { fakeTool } from '../../../support/fake-tool-server.ts';

const toolOf = (name: string, more: Partial<GatewayTool> = {}) => fakeTool(name, { server: 'notes', ...more });
const listed = (...tools: GatewayTool[]) => [{ name: 'notes', serverInfo: { name: 'n', version: '1' }, tools }];
const parsed = (approved: ApprovedTools) => parseLock(lockText(approved)) ?? expect.fail('the file is damaged');

/** An object of JSON, with names that objects have by themselves. */
const names = fc.oneof(fc.string(), fc.constantFrom('constructor', '__proto__', 'toString', '10', '9'));
const object = fc.dictionary(names, fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 });
const tools = fc
  .uniqueArray(
    fc.record({ name: names.filter((name) => name !== ''), description: fc.string(), inputSchema: object }),
    { selector: ({ name }) => name },
  )
  .map((tools) => tools.map((tool) => toolOf(tool.name, tool)));

/** The same value with its keys in reverse order, at every level. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, reversed(member)]),
  );
}

describe('what was approved', () => {
  test('is approved, however its keys and tools are ordered, and has the same text then', () => {
    fc.assert(
      fc.property(tools, (tools) => {
        const approved = parsed(approve(listed(...tools)));
        const again = tools.toReversed().map((tool) => reversed(tool) as GatewayTool);
        expect(again.map((tool) => changeOf(tool, approved))).toEqual(again.map(() => undefined));
        expect(lockText(approve(listed(...again)))).toBe(lockText(approved));
        expect(differences(approved, approve(listed(...again)))).toEqual([]);
        expect(numberOfTools(approved)).toBe(tools.length);
      }),
    );
  });

  test('is written with sorted keys, two spaces and a line feed', () => {
    const tool = toolOf('a', { title: 'A', outputSchema: { z: 1, b: [{ c: 2 }] } });
    expect(lockText(approve(listed(tool)))).toBe(`{
  "servers": {
    "notes": {
      "serverInfo": {
        "name": "n",
        "version": "1"
      },
      "tools": {
        "a": {
          "description": "Does a.",
          "inputSchema": {
            "type": "object"
          },
          "outputSchema": {
            "b": [
              {
                "c": 2
              }
            ],
            "z": 1
          },
          "title": "A"
        }
      }
    }
  },
  "version": 1
}
`);
  });
});

describe('a tool', () => {
  const approved = approve(listed(toolOf('read', { annotations: { readOnlyHint: true } }), toolOf('constructor')));

  test.each<readonly [string, Partial<GatewayTool>]>([
    ['a description', { description: 'Other.' }],
    ['a schema', { inputSchema: { type: 'object', properties: {} } }],
    ['a hint', { annotations: { readOnlyHint: false } }],
    ['no hints', { annotations: {} }],
  ])('with another member has changed: %s', (_, more) => {
    expect(changeOf(toolOf('read', { annotations: { readOnlyHint: true }, ...more }), approved)).toBe('changed');
  });

  test.each(['write', 'toString', '__proto__'])('that is not in the file is new: %s', (name) => {
    expect(changeOf(toolOf(name), approved)).toBe('new');
    expect(changeOf({ ...toolOf('read'), server: name }, approved)).toBe('new');
  });

  test('may be named as what objects have by themselves', () => {
    expect(changeOf(toolOf('constructor'), approved)).toBeUndefined();
  });
});

describe('the differences', () => {
  test('are new, changed and removed tools, with their definitions', () => {
    const before = approve(listed(toolOf('same'), toolOf('old'), toolOf('gone')));
    const after = approve(listed(toolOf('same'), toolOf('old', { description: 'New.' }), toolOf('more')));
    const inputSchema = { type: 'object' };
    expect(differences(before, after)).toEqual([
      {
        server: 'notes',
        tool: 'old',
        change: 'changed',
        before: { description: 'Does old.', inputSchema },
        after: { description: 'New.', inputSchema },
      },
      { server: 'notes', tool: 'more', change: 'new', after: { description: 'Does more.', inputSchema } },
      { server: 'notes', tool: 'gone', change: 'removed', before: { description: 'Does gone.', inputSchema } },
    ]);
  });

  test('do not include servers that are not available, but those that are not configured', () => {
    const before = approve(listed(toolOf('a')));
    const away = [{ name: 'notes', tools: undefined }];
    expect(approve(away, before)).toEqual(before);
    expect(differences(before, approve(away, before))).toEqual([]);
    expect(approve(away)).toEqual({ servers: {} });
    expect(differences(before, approve([], before))).toMatchObject([{ tool: 'a', change: 'removed' }]);
  });
});

test.each([
  '[]',
  '{"version":1',
  '{"version":2,"servers":{}}',
  '{"version":1,"servers":[]}',
  '{"version":1,"servers":{"a":{"tools":[]}}}',
  '{"version":1,"servers":{"a":{"tools":{},"serverInfo":1}}}',
  '{"version":1,"servers":{"a":{"tools":{"b":{}}}}}',
  '{"version":1,"servers":{"a":{"tools":{"b":{"description":"","inputSchema":null}}}}}',
])('a damaged file is not read: %s', (text) => {
  expect(parseLock(text)).toBeUndefined();
});

test('a file need not say which server it was', () => {
  expect(parseLock('{"version":1,"servers":{"a":{"tools":{}}}}')).toEqual({ servers: { a: { tools: {} } } });
});
