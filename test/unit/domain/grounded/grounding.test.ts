import { describe, expect, test } from 'vitest';
import { EVERYTHING } from '../../../../src/domain/gateway/call-origin.ts';
import type { GatewayTool } from '../../../../src/domain/gateway/gateway-tool.ts';
import {
  type GroundingPolicy,
  mayHaveEffects,
  toOffer,
  unknownTools,
} from '../../../../src/domain/grounded/grounding.ts';
import { policyOf, tool } from '../../../support/grounding.ts';

const READ = tool('jira/search');
const WRITE = tool('jira/create', { annotations: { readOnlyHint: false } });
const namesOf = (tools: readonly GatewayTool[], list: GroundingPolicy['tools']) =>
  toOffer(tools, policyOf({ tools: list })).functions.map(({ name }) => name);
const hinted = (annotations: object): GatewayTool => tool('jira/x', { annotations: { ...annotations } });
const without = ({ annotations: _, ...rest }: GatewayTool): GatewayTool => rest;

describe('offered are', () => {
  test('no tools of a server that is not configured, or that is named like a property of every object', () => {
    const tools = [tool('wiki/x'), tool('toString/x'), tool('__proto__/x')];
    expect(namesOf(tools, { jira: 'all' })).toEqual([]);
  });

  // S71
  test('with `all`, those that declare that they only read', () => {
    expect(namesOf([hinted({ readOnlyHint: true })], { jira: 'all' })).toEqual(['jira__x']);
    for (const other of [
      hinted({ readOnlyHint: true, destructiveHint: true }),
      hinted({ readOnlyHint: 'true' }),
      hinted({}),
      without(tool('jira/x')),
    ])
      expect(namesOf([other], { jira: 'all' })).toEqual([]);
  });

  test('a listed name, whatever its hints are, and nothing else', () => {
    expect(namesOf([READ, WRITE, without(tool('jira/other'))], { jira: ['create', 'other'] })).toEqual([
      'jira__create',
      'jira__other',
    ]);
    expect(namesOf([READ, WRITE], { jira: [] })).toEqual([]);
  });
});

describe('functions', () => {
  test('are sorted by name, in any order of the tools', () => {
    const tools = [tool('b/z'), tool('b/a'), tool('a/y'), tool('a/B'), tool('a/_')];
    const sorted = ['a__B', 'a___', 'a__y', 'b__a', 'b__z'];
    expect(namesOf(tools, { a: 'all', b: 'all' })).toEqual(sorted);
    expect(namesOf(tools.toReversed(), { b: 'all', a: 'all' })).toEqual(sorted);
  });

  const descriptionOf = (over: Partial<GatewayTool>) =>
    toOffer([tool('jira/search', over)], policyOf()).functions[0]?.description;

  test('have the description of the tool, its title, or its name', () => {
    expect(descriptionOf({ description: 'Finds issues.', title: 'Search' })).toBe('Finds issues.');
    expect(descriptionOf({ description: '', title: 'Search' })).toBe('Search');
    expect(descriptionOf({ description: '' })).toBe('search');
  });

  test('have at most 1,024 characters of description, never half a character', () => {
    expect(descriptionOf({ description: 'x'.repeat(1024) })).toBe('x'.repeat(1024));
    expect(descriptionOf({ description: 'x'.repeat(1025) })).toBe(`${'x'.repeat(1023)}…`);
    expect(descriptionOf({ description: `${'x'.repeat(1022)}😀😀` })).toBe(`${'x'.repeat(1022)}…`);
    expect(descriptionOf({ description: 'a\uD800b' })).toBe('a\uFFFDb');
  });

  test('say what was removed from the schema, however long the description is', () => {
    const inputSchema = { type: 'object', not: { required: ['a'] } };
    const note = '\nConstraints: {"not":{"required":["a"]}}';
    expect(descriptionOf({ description: 'Finds.', inputSchema })).toBe(`Finds.${note}`);
    const long = descriptionOf({ description: 'x'.repeat(2000), inputSchema });
    expect(long).toHaveLength(1024);
    expect(long?.endsWith(`x…${note}`)).toBe(true);
  });
});

describe('listed tools that their server does not have', () => {
  test('are known once the server is available, even if it has no tools at all', () => {
    const policy = policyOf({ tools: { jira: ['search', 'typo'], wiki: ['get'], docs: 'all' } });
    expect(unknownTools(policy, [READ], ['wiki'])).toEqual(['jira/typo']);
    expect(unknownTools(policy, [READ], [])).toEqual(['jira/typo', 'wiki/get']);
  });
});

// S71
describe('an answer may have effects', () => {
  test.each<[string, GroundingPolicy['tools'], readonly GatewayTool[], boolean]>([
    ['not with `all`', { jira: 'all' }, [WRITE], false],
    ['if a listed tool has effects', { wiki: 'all', jira: ['search', 'create'] }, [READ, WRITE], true],
    ['if a listed tool has no hints', { jira: ['x'] }, [without(tool('jira/x'))], true],
    ['if only another server has a tool of this name', { jira: ['search'] }, [tool('wiki/search')], true],
    ['not if every listed tool only reads', { jira: ['search'] }, [READ, WRITE], false],
  ])('%s', (_, tools, known, expected) => {
    expect(mayHaveEffects(policyOf({ tools }), known, EVERYTHING)).toBe(expected);
  });
});
