import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  mergeTrees,
  type Tree,
  toCamelCase,
  treeOf,
  valueAt,
} from '../../../../../src/adapters/outbound/config/tree.ts';

describe('merging', () => {
  test.each([
    ['sections are merged deep', { a: { x: 1, y: 2 } }, { a: { y: 3 } }, { a: { x: 1, y: 3 } }],
    ['arrays are replaced', { a: [1, 2] }, { a: [3] }, { a: [3] }],
    ['an empty array is a value', { a: [1, 2] }, { a: [] }, { a: [] }],
    ['null is a value', { a: { x: 1 } }, { a: null }, { a: null }],
    ['undefined changes nothing', { a: 1 }, { a: undefined }, { a: 1 }],
    ['false and 0 are values', { a: true, b: 1 }, { a: false, b: 0 }, { a: false, b: 0 }],
    ['a section comes over a value', { a: 1 }, { a: { x: 1 } }, { a: { x: 1 } }],
    ['a value comes over a section', { a: { x: 1 } }, { a: 1 }, { a: 1 }],
  ])('%s', (_, base, over, merged) => {
    expect(mergeTrees(base as Tree, over as Tree)).toEqual(merged);
  });

  test('a key called __proto__ is data like any other', () => {
    const evil = JSON.parse('{"__proto__": {"polluted": true}}') as Tree;
    const merged = mergeTrees({ a: 1 }, evil);
    expect(Object.keys(merged)).toEqual(['a', '__proto__']);
    expect('polluted' in {}).toBe(false);
    expect(Object.getPrototypeOf(merged)).toBe(Object.prototype);
  });
});

describe('properties, for trees in which a path is either a section or a value, as keys are', () => {
  const value = fc.oneof(fc.integer(), fc.string(), fc.boolean(), fc.constant(null), fc.array(fc.integer()));
  const values = fc.dictionary(fc.constantFrom('a', 'b', '__proto__', 'toString'), value);
  const tree: fc.Arbitrary<Tree> = fc
    .tuple(values, fc.dictionary(fc.constantFrom('s', 't'), values))
    .chain(([top, sections]) =>
      fc.dictionary(fc.constantFrom('u', 'v'), fc.constant(sections)).map((deep) => ({ ...top, ...sections, ...deep })),
    );
  const leavesOf = (tree: Tree, path: readonly string[] = []): [string, unknown][] =>
    Object.entries(tree).flatMap(([key, value]) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? leavesOf(value as Tree, [...path, key])
        : [[[...path, key].join('.'), value] as [string, unknown]],
    );

  test('an empty tree changes nothing, on either side', () => {
    fc.assert(
      fc.property(tree, (tree) => {
        expect(mergeTrees(tree, {})).toEqual(tree);
        expect(mergeTrees({}, tree)).toEqual(tree);
      }),
    );
  });

  test('the order in which three layers are merged does not matter', () => {
    fc.assert(
      fc.property(tree, tree, tree, (a, b, c) => {
        expect(mergeTrees(mergeTrees(a, b), c)).toEqual(mergeTrees(a, mergeTrees(b, c)));
      }),
    );
  });

  test('each value is that of the upper layer, or else that of the lower', () => {
    fc.assert(
      fc.property(tree, tree, (base, over) => {
        const wanted = new Map([...leavesOf(base), ...leavesOf(over)]);
        expect(new Map(leavesOf(mergeTrees(base, over)))).toEqual(wanted);
      }),
    );
  });

  test('no layer is modified', () => {
    fc.assert(
      fc.property(tree, tree, (base, over) => {
        const before = JSON.stringify([base, over]);
        mergeTrees(base, over);
        expect(JSON.stringify([base, over])).toBe(before);
      }),
    );
  });
});

test('a value is found at its path only', () => {
  const tree = treeOf('a.b.c', 1);
  expect(tree).toEqual({ a: { b: { c: 1 } } });
  expect(valueAt(tree, 'a.b.c')).toBe(1);
  expect(valueAt(tree, 'a.b')).toEqual({ c: 1 });
  expect(valueAt(tree, 'a.x.c')).toBeUndefined();
  expect(valueAt(tree, 'a.b.c.d')).toBeUndefined();
  expect(valueAt(tree, 'toString')).toBeUndefined();
});

test('a section in camel case keeps its values, and the keys inside them', () => {
  expect(toCamelCase({ max_body_bytes: 1, path: '/mcp', token_env: { my_app: 'T' } })).toEqual({
    maxBodyBytes: 1,
    path: '/mcp',
    tokenEnv: { my_app: 'T' },
  });
});
