import fc from 'fast-check';
import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { toTerminalText } from '../../../../../src/adapters/inbound/cli/terminal-markdown.ts';
import { anyCharacter } from '../../../../support/any-text.ts';

const plain = (markdown: string, columns = 80) => toTerminalText(markdown, { columns, hasStyles: false });
const styled = (markdown: string, columns = 80) =>
  toTerminalText(markdown, { columns, hasStyles: true })
    .replaceAll('\u001B[1m', '<b>')
    .replaceAll('\u001B[22m', '</b>')
    .replaceAll('\u001B[3m', '<i>')
    .replaceAll('\u001B[23m', '</i>')
    .replaceAll('\u001B[4m', '<u>')
    .replaceAll('\u001B[24m', '</u>')
    .replaceAll('\u001B[36m', '<c>')
    .replaceAll('\u001B[39m', '</c>');
const JMA = 'https://www.jma.go.jp/bosai/forecast/';

test.each([
  ['**Not Found**: no', '<b>Not Found</b>: no'],
  ['an *old* page', 'an <i>old</i> page'],
  ['***both*** here', '<i><b>both</b></i> here'],
  ['**see `x`**', '<b>see <c>x</c></b>'],
  ['## 2. The **big** one', '<b>2. The <b>big<b> one</b>'],
  ['[the forecast](https://a.example/)', '<u>the forecast</u>\u00A0[1]\n\n[1] https://a.example/'],
  ['\\*no\\* 1\\. `\\d`', '*no* 1. <c>\\d</c>'],
  ['2*3*4 and 2 * 3 * 4', '2*3*4 and 2 * 3 * 4'],
  ['snake_case_name and ~5~10', 'snake_case_name and ~5~10'],
  ['5 < 6 & [x] (y) [z] <b>', '5 < 6 & [x] (y) [z] <b>'],
])('%j has the styles of %j', (markdown, shown) => {
  expect(styled(markdown)).toBe(shown);
});

test('without styles, there are no escape codes, and a style continues in the next line', () => {
  expect(plain('# A\n\n**b** *c* `d`')).toBe('A\n\nb c d');
  expect(styled('**one two three four**', 16)).toBe('<b>one two three</b>\n<b>four</b>');
});

test.each([
  ['breaks lines between words, and where the answer does', 'one two three four\nfive', 'one two three\nfour\nfive'],
  [
    'hangs lists below the text of their entry',
    '- one two three four\n  - five six seven eight\n\n10. nine ten eleven',
    '• one two three\n  four\n  • five six\n    seven eight\n\n10. nine ten\n    eleven',
  ],
  ['keeps blank lines between entries, and tasks', '1. a\n\n2. b\n\n- [x] c', '1. a\n\n2. b\n\n• [x] c'],
  ['draws quotations and rules', '> one two three four\n\n---', '│ one two three\n│ four\n\n────────────────'],
  [
    'does not break code',
    '```sh\nnpm  run   **build** -- --all\n  x\n```\nafter',
    '    npm  run   **build** -- --all\n      x\nafter',
  ],
  ['breaks Japanese text', '東京の天気は、今日も晴れ。', '東京の天気は、\n今日も晴れ。'],
  ['does not break URLs', `see ${JMA} (2026)`, `see\n${JMA}\n(2026)`],
  [
    'shows what it does not know as it is',
    '[1]: https://a.example/\n<div>x</div>',
    '[1]: https://a.example/\n<div>x</div>',
  ],
])('%s', (_, markdown, shown) => {
  expect(plain(markdown, 16)).toBe(shown);
});

test('a table has columns, or, if it is too wide, one entry per row', () => {
  const table = '| Source | Price |\n|:---|---:|\n| **A** | $1 |\n| 東京 | a \\| b |\n';
  expect(plain(table)).toBe('Source  Price\n──────  ─────\nA       $1\n東京    a | b');
  expect(plain(`${table}| x | a long text, too |`, 16)).toBe(
    'A\n  Price: $1\n東京\n  Price: a | b\nx\n  Price: a long\n  text, too',
  );
});

test('links have numbers; URLs that the answer does not show are listed once', () => {
  const links = `Sunny. ([jma.go.jp](${JMA})) Warm. ([jma.go.jp](${JMA}#top)) ([tenki.jp](https://tenki.jp/)) [x](file:///x)`;
  const text = 'Sunny. (jma.go.jp\u00A0[1]) Warm. (jma.go.jp\u00A0[1]) (tenki.jp\u00A0[2]) [x](file:///x)';
  expect(plain(links, 200)).toBe(`${text}\n\n[1] ${JMA}\n[2] https://tenki.jp/`);
  const sources = `Sources:\n- ${JMA} (2026-11-20)\n- [The title](https://nodejs.org/) (2026-11-21)\n- oai-weather (2026-11-20)`;
  expect(plain(`${links}\n\n${sources}`, 200)).toBe(
    `${text}\n\nSources:\n[1] ${JMA} (2026-11-20)\n• The title: https://nodejs.org/ (2026-11-21)\n• oai-weather (2026-11-20)\n[2] https://tenki.jp/`,
  );
});

const PARTS = ['**', '*', '_', '`', '[', ']', '(', ')', 'https://a.example/', ' ', '\n', '- ', '> ', '|', '---', '東'];
const markup = fc
  .array(fc.constantFrom(...PARTS, 'word', '\u001B', '\u0007', '\u009D', '\t', '```', '#', '\\'))
  .map((parts) => parts.join(''));

test('no text drives the terminal in another way than with our styles', () => {
  fc.assert(
    fc.property(fc.oneof(markup, fc.string({ unit: anyCharacter })), fc.boolean(), (text, hasStyles) => {
      const shown = toTerminalText(text, { columns: 20, hasStyles });
      const rest = hasStyles ? shown.replace(/\u001B\[\d+m/g, '') : shown;
      expect(rest).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/);
    }),
  );
});

test('words are kept, in lines that fit', () => {
  const words = fc.array(fc.constantFrom('a', 'words', '東京', '、', '「', 'ー', 'x'.repeat(9)), { minLength: 1 });
  fc.assert(
    fc.property(words, (words) => {
      const shown = plain(words.join(' '), 20);
      expect(shown.replace(/\s/g, '')).toBe(words.join(''));
      expect(Math.max(...shown.split('\n').map((line) => stringWidth(line)))).toBeLessThanOrEqual(20);
    }),
  );
});
