import fc from 'fast-check';
import { expect, test } from 'vitest';
import { functionNames } from '../../../src/domain/function-name.ts';

const LONG = 'a_tool_with_a_name_that_does_not_fit_into_the_limit_of_the_api_at_all';

/** Literals: every process must use these names. */
test.each([
  ['is the server and the tool', [['jira', 'search_issues']], ['jira__search_issues']],
  ['has only characters that the API accepts', [['wiki', 'get.page/v2 é日😀']], ['wiki__get_page_v2_____']],
  ['keeps 64 characters', [['s', 'x'.repeat(61)]], [`s__${'x'.repeat(61)}`]],
  ['ends with a hash from 65 characters on', [['s', 'x'.repeat(62)]], [`s__${'x'.repeat(52)}_8599f228`]],
  [
    'that is too long keeps its beginning',
    [['files', LONG]],
    ['files__a_tool_with_a_name_that_does_not_fit_into_the_li_0bbc7d67'],
  ],
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
] as const)('the name %s', (_, tools, names) => {
  expect(functionNames(tools.map(([server, name]) => ({ server, name })))).toEqual(names);
});

test('a server with an underscore does not take the name of another server with the same letters', () => {
  const names = functionNames([
    { server: 'a_', name: 'b' },
    { server: 'a', name: '_b' },
  ]);
  expect(new Set(names).size).toBe(2);
});

const server = fc.constantFrom('a', 'a_', 'b-c');
const name = fc.oneof(fc.stringMatching(/^[ab_. ]{1,4}$/), fc.stringMatching(/^[ab.]{55,66}$/));
const tools = fc.uniqueArray(fc.record({ server, name }), {
  selector: ({ server, name }) => `${server}/${name}`,
  maxLength: 30,
});

test('any names are valid, unique, and do not depend on the order of the tools', () => {
  fc.assert(
    fc.property(tools, (tools) => {
      const names = functionNames(tools);
      for (const name of names) expect(name).toMatch(/^(?!(?:parallel|web_search)$)[a-zA-Z0-9_-]{1,64}$/);
      expect(new Set(names).size).toBe(names.length);
      expect(functionNames(tools.toReversed())).toEqual(names.toReversed());
    }),
  );
});
