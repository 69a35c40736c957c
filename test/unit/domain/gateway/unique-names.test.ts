import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { exposedNames, functionNames, uniqueNames } from '../../../../src/domain/gateway/unique-names.ts';
import { anyCharacter } from '../../../support/any-text.ts';

type Tools = Parameters<typeof exposedNames>[0];
const serversOf = (tools: Tools) => [...new Set(tools.map(({ server }) => server))];

type Pair = readonly [server: string, tool: string];
const toTools = (pairs: readonly Pair[]) => pairs.map(([server, name]) => ({ server, name }));

/** Literals: every process must use these names. */
test.each<readonly [string, readonly Pair[], readonly string[]]>([
  ['is the server and the tool, with any characters', [['files', 'read file/now']], ['files__read file/now']],
  ['ends with a hash from 65 characters on', [['a', 'x'.repeat(62)]], [`a__${'x'.repeat(52)}_b3ba1b92`]],
  [
    'has no half of a character',
    [['weather', '天気予報を取得する'.repeat(10)]],
    [`weather__${'天気予報を取得する'.repeat(10).slice(0, 46)}_dd77dacf`],
  ],
  [
    'of each of two tools that collide has a hash',
    [
      ['bank', '_pay'],
      ['bank_', 'pay'],
      ['bank', 'pay'],
    ],
    ['bank___pay_9b96c8f6', 'bank___pay_8c13ab50', 'bank__pay'],
  ],
])('the name over MCP %s', (_, tools, names) => {
  expect(exposedNames(toTools(tools), serversOf(toTools(tools)))).toEqual(names);
});

test.each<readonly [string, readonly Pair[], readonly string[]]>([
  ['has only characters that the API accepts', [['wiki', 'get.page/v2 é日😀']], ['wiki__get_page_v2_____']],
  ['ends with a hash from 65 characters on', [['s', 'x'.repeat(62)]], [`s__${'x'.repeat(52)}_8599f228`]],
  [
    'of each tool that collides has a hash, and of no other',
    [
      ['wiki', 'get.page'],
      ['wiki', 'get page'],
      ['wiki', 'get_pages'],
    ],
    ['wiki__get_page_a001cd1c', 'wiki__get_page_67be621a', 'wiki__get_pages'],
  ],
  [
    'of a tool that is named like another with its hash gets one too',
    [
      ['wiki', 'get.page'],
      ['wiki', 'get page'],
      ['wiki', 'get_page_a001cd1c'],
    ],
    ['wiki__get_page_a001cd1c', 'wiki__get_page_67be621a', 'wiki__get_page_a001cd1c_e41e5181'],
  ],
])('the name of a function %s', (_, tools, names) => {
  expect(functionNames(toTools(tools))).toEqual(names);
});

const server = fc.constantFrom('a', 'a_', 'b-c');
const tool = fc.oneof(
  fc.stringMatching(/^[ab_. ]{1,4}$/),
  fc.stringMatching(/^[ab.]{55,66}$/),
  fc.string({ unit: fc.constantFrom('a', '🦉'), minLength: 25, maxLength: 80 }),
  fc.string({ unit: anyCharacter, minLength: 1, maxLength: 100 }),
);
const tools = fc.uniqueArray(fc.tuple(server, tool), { selector: (pair) => pair.join('/'), maxLength: 30 });

describe.each([
  ['over MCP', (tools: Tools) => exposedNames(tools, serversOf(tools)), /^.{1,64}$/s],
  ['of functions', functionNames, /^(?!(?:parallel|web_search)$)[a-zA-Z0-9_-]{1,64}$/],
])('any names %s', (_, namesOf, valid) => {
  test('are valid, unique, and do not depend on the order of the tools', () => {
    fc.assert(
      fc.property(tools, (pairs) => {
        const names = namesOf(toTools(pairs));
        for (const name of names) expect(name).toMatch(valid);
        expect(new Set(names).size).toBe(names.length);
        expect(namesOf(toTools(pairs.toReversed()))).toEqual(names.toReversed());
      }),
    );
  });

  test('begin with the server, and are the complete name if only one tool has it and it is short enough', () => {
    fc.assert(
      fc.property(server, tool, (server, tool) => {
        const [name = ''] = namesOf(toTools([[server, tool]]));
        expect(name.startsWith(`${server}__`)).toBe(true);
        const { length } = `${server}__${tool}`;
        expect(/^.*_[0-9a-f]{8}$/s.test(name) || name.length === length).toBe(true);
        if (length <= 64) expect(name).toHaveLength(length);
        if (tool.isWellFormed()) expect(name.isWellFormed()).toBe(true);
      }),
    );
  });
});

test('a name that is taken gets a hash, however short it is', () => {
  const items = [
    { text: 'one', identity: 'One' },
    { text: 'two', identity: 'Two' },
  ];
  const names = uniqueNames(items, { maxLength: 32, separator: '-', taken: new Set(['one']) });
  expect(names).toEqual([expect.stringMatching(/^one-[0-9a-f]{8}$/), 'two']);
});
