import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type AccessPolicy, rightsBy, unmatchedGrants } from '../../../../src/domain/gateway/access.ts';
import type { UsableTool } from '../../../../src/domain/gateway/call-origin.ts';

const toolOf = (path: string, readOnlyHint?: boolean): UsableTool => {
  const [server = '', name = ''] = path.split('/');
  return { server, name, ...(readOnlyHint === undefined ? {} : { annotations: { readOnlyHint } }) };
};
const TOOLS = [
  toolOf('notes/find', true),
  toolOf('notes/write', false),
  toolOf('tickets/search_open'),
  toolOf('openai-responses-mcp/answer'),
  toolOf('openai-responses-mcp/answer_quick'),
];

const POLICY: AccessPolicy = {
  alice: { servers: { notes: 'read_only', tickets: [] }, answers: true },
  'group:dev': { servers: { tickets: ['search_*'] }, answers: ['answer_quick'] },
  ops: { servers: 'all', operator: true },
  ...Object.fromEntries([['constructor', { servers: Object.fromEntries([['toString', 'all' as const]]) }]]),
};

function usableBy(caller: string, groups?: readonly string[]) {
  const rights = rightsBy(POLICY)({ caller, ...(groups && { groups }) });
  return TOOLS.filter(rights.mayUse).map(({ server, name }) => `${server}/${name}`);
}

describe('a caller may use', () => {
  test.each<[string, readonly string[], readonly string[]]>([
    ['alice', [], ['notes/find', 'openai-responses-mcp/answer', 'openai-responses-mcp/answer_quick']],
    ['bob', ['dev', 'other'], ['tickets/search_open', 'openai-responses-mcp/answer_quick']],
    ['bob', ['Dev', 'group:dev', 'ops'], []],
    ['ops', [], ['notes/find', 'notes/write', 'tickets/search_open']],
    ['toString', ['constructor'], []],
  ])('%s with the groups %j: %j', (caller, groups, expected) => {
    expect(usableBy(caller, groups)).toEqual(expected);
  });

  test('what any of the entries allows', () => {
    expect(usableBy('alice', ['dev'])).toEqual([
      'notes/find',
      'tickets/search_open',
      'openai-responses-mcp/answer',
      'openai-responses-mcp/answer_quick',
    ]);
  });

  // S65
  test('everything on this machine, unless `local` is listed', () => {
    expect(usableBy('local')).toHaveLength(TOOLS.length);
    expect(rightsBy(POLICY)({ caller: 'local' })).toMatchObject({ isOperator: true, isForEveryone: false });
    const listed = rightsBy({ local: { answers: true } })({ caller: 'local' });
    expect([listed.sees('notes'), listed.sees('openai-responses-mcp'), listed.isOperator]).toEqual([
      false,
      true,
      false,
    ]);
  });
});

test('operators may read the metrics, and others with that right alone', () => {
  const rightsOf = rightsBy({ ops: { operator: true }, prometheus: { metrics: true }, bob: { servers: 'all' } });
  const may = ['ops', 'prometheus', 'bob'].map((caller) => {
    const { isOperator, mayReadMetrics } = rightsOf({ caller });
    return [isOperator, mayReadMetrics];
  });
  expect(may).toEqual([
    [true, true],
    [false, true],
    [false, false],
  ]);
});

test('a server without an allowed entry does not exist', () => {
  const rights = rightsBy(POLICY)({ caller: 'alice' });
  expect(['notes', 'tickets', 'other'].filter(rights.sees)).toEqual(['notes']);
  expect(rightsBy(POLICY)({ caller: 'constructor' }).sees('toString')).toBe(true);
  expect(rightsBy(POLICY)({ caller: 'constructor' }).sees('valueOf')).toBe(false);
});

test('the same entries are one object, whatever the order of the groups, and others are another', () => {
  const rightsOf = rightsBy({ ...POLICY, 'group:ops': { operator: true } });
  const first = rightsOf({ caller: 'bob', groups: ['dev', 'ops', 'x'] });
  expect(rightsOf({ caller: 'carol', groups: ['ops', 'dev', 'dev'] })).toBe(first);
  expect(first.isOperator).toBe(true);
  expect(rightsOf({ caller: 'bob', groups: ['dev'] })).not.toBe(first);
});

test('no group takes anything away, and what may be used is of a server that exists (law)', () => {
  const caller = fc.constantFrom('alice', 'bob', 'ops', 'constructor', '__proto__');
  const groups = fc.array(fc.constantFrom('dev', 'ops', '__proto__', ''));
  fc.assert(
    fc.property(caller, groups, (name, list) => {
      const [alone, member] = [rightsBy(POLICY)({ caller: name }), rightsBy(POLICY)({ caller: name, groups: list })];
      for (const tool of TOOLS) {
        expect(member.mayUse(tool) || !alone.mayUse(tool)).toBe(true);
        expect(member.sees(tool.server) || !member.mayUse(tool)).toBe(true);
      }
    }),
  );
});

test('names and patterns that match no tool of an available server are found', () => {
  const policy: AccessPolicy = {
    alice: { servers: { notes: ['find', 'delete_*'], tickets: ['x'] } },
    bob: { servers: { notes: 'read_only' }, answers: ['answer'] },
    ops: { servers: 'all' },
  };
  const unmatched = [{ caller: 'alice', server: 'notes', pattern: 'delete_*' }];
  const servers = [
    { name: 'notes', state: 'available' as const },
    { name: 'tickets', state: 'failed' as const },
  ];
  expect(unmatchedGrants(policy, { servers, tools: TOOLS, changed: [] })).toEqual(unmatched);
});
