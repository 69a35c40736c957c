import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createReplacer } from '../../../../src/domain/values/text-replacer.ts';
import { expectLinear } from '../../../support/expect-linear.ts';

const replace = (texts: readonly string[], text: string) => createReplacer(texts, '*', 0)(text);

describe('a replacer', () => {
  test.each([
    [[], 'abcd', 'abcd'],
    [['abcd'], '', ''],
    [['abcd'], 'abc', 'abc'],
    [['abcd'], 'abcd', '*'],
    [['abcd'], 'xabcdabcdx', 'x**x'],
    [['abcd'], 'ababcd', 'ab*'],
    [['abcd', 'abcdef'], 'abcdef abcd', '* *'],
    [['aaaa'], 'aaaaaaa', '*aaa'],
    [['日本語の鍵'], 'これは日本語の鍵です', 'これは*です'],
  ])('replaces %j in %j', (texts, text, replaced) => {
    expect(replace(texts, text)).toBe(replaced);
  });

  test('replaces what a search from the left finds, the longest first, whatever the texts are', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '\u0161'), minLength: 2, maxLength: 6 });
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '\u0161'), maxLength: 60 });
    fc.assert(
      fc.property(fc.array(letters, { minLength: 1, maxLength: 6 }), text, (texts, text) => {
        const longestFirst = [...texts].sort((a, b) => b.length - a.length);
        expect(replace(texts, text)).toBe(text.replace(new RegExp(longestFirst.join('|'), 'g'), '*'));
      }),
    );
  });

  test('replaces a short text only where no letter and no digit adjoins', () => {
    const mask = createReplacer(['root'], '*', 8);
    expect(mask('root, "root" uprooted rooté root1 /root/x')).toBe('*, "*" uprooted rooté root1 /*/x');
  });

  test('takes a text of any length', () => {
    const long = 'key-'.repeat(100_000);
    expect(replace([long, 'other-text'], `a ${long} b other-text`)).toBe('a * b *');
  });

  test('takes time in proportion to the text', () => {
    const mask = createReplacer(['abababababababab-secret', 'another-secret'], '*', 8);
    expectLinear((size) => mask('ab'.repeat(size)), 100_000);
  });
});
