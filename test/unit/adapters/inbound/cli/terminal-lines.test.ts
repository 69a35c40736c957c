import fc from 'fast-check';
import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { fitted, wrapped } from '../../../../../src/adapters/inbound/cli/terminal-lines.ts';

const LINE = '  echo: Returns the text that it was given';

// S86
test('a line that is too long is broken at blanks, and its other parts are indented further', () => {
  expect(fitted(LINE, { columns: 24 })).toBe('  echo: Returns the\n    text that it was\n    given');
});

test.each([
  ['a line that fits', 'ends here', 9],
  ['a URL, so that it can be selected', `- ${'https://a.example/'.padEnd(40, 'x')}`, 20],
  ['a path, beside its marker', `- /tmp/${'folder/'.repeat(5)}report.md:1:24:`, 20],
  ['what a program reads', LINE, undefined],
  ['a command of this program, so that it can be copied', 'Sign in: openai-responses-mcp login tickets', 20],
])('%s stays whole', (_, line, columns) => {
  expect(fitted(line, { columns })).toBe(line);
});

test('a command of a checkout stays whole, too', () => {
  const ownCommand = { program: 'node build/index.js', options: '' };
  const line = 'Sign in with: node build/index.js login tickets';
  expect(fitted(line, { columns: 20, ownCommand })).toBe(line);
});

test.each([
  [
    'two columns for a wide letter, and no break in a number',
    '塔には321段の階段があります。',
    10,
    ['塔には321', '段の階段が', 'あります。'],
  ],
  ['no full stop or bracket at a begin', '（東京）、（大阪）。', 10, ['（東京）、', '（大阪）。']],
  [
    'no bracket at an end, also before a style',
    '天気（\u001B[4m東京\u001B[24m）',
    10,
    ['天気', '（\u001B[4m東京\u001B[24m）'],
  ],
  ['no break before the number of a link', '今日の天気\u00A0[1]', 12, ['今日の', '天気\u00A0[1]']],
  [
    'a style that continues',
    '\u001B[1m東京の天気です\u001B[22m',
    10,
    ['\u001B[1m東京の天気\u001B[22m', '\u001B[1mです\u001B[22m'],
  ],
  ['URLs stay whole', '見る（https://a.example/tower）。', 12, ['見る', '（https://a.example/tower）。']],
])('lines without blanks: %s', (_, text, columns, lines) => {
  expect(wrapped(text, columns)).toEqual(lines);
});

test('words and letters are kept, and only what cannot be broken is wider than the terminal', () => {
  const word = fc.constantFrom('a', 'word', '塔には321段', '、', '（', 'https://a.example/x', '12,345', '😀', 'é');
  fc.assert(
    fc.property(fc.array(word), fc.integer({ min: 10, max: 40 }), (words, columns) => {
      const text = words.join(' ');
      const lines = wrapped(text, columns);
      expect(lines.join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', ''));
      for (const line of lines) expect(stringWidth(line) <= columns || line.includes('https://')).toBe(true);
    }),
  );
});
