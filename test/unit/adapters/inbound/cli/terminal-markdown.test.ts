import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { type TerminalLook, toTerminalText } from '../../../../../src/adapters/inbound/cli/terminal-markdown.ts';
import { cpuMs } from '../../../../support/cpu-time.ts';

const PLAIN: TerminalLook = { columns: 80, hasStyles: false, hasHyperlinks: false };
const STYLED: TerminalLook = { ...PLAIN, hasStyles: true };
const LINKED: TerminalLook = { ...STYLED, hasHyperlinks: true };

const plain = (markdown: string, columns = 80) => toTerminalText(markdown, { ...PLAIN, columns });
const JMA = 'https://www.jma.go.jp/bosai/forecast/';

describe('styles', () => {
  test.each([
    ['**Not Found**: no', '\u001B[1mNot Found\u001B[0m: no'],
    ['__Not Found__', '\u001B[1mNot Found\u001B[0m'],
    ['an *old* page', 'an \u001B[3mold\u001B[0m page'],
    ['***both*** here', '\u001B[1;3mboth\u001B[0m here'],
    ['the `initialize` request', 'the \u001B[36minitialize\u001B[0m request'],
    ['**see `x`**', '\u001B[1msee \u001B[0m\u001B[1;36mx\u001B[0m'],
    ['``a ` b``', '\u001B[36ma ` b\u001B[0m'],
    ['**「東京」**は', '\u001B[1m「東京」\u001B[0mは'],
    ['## Title ##', '\u001B[1mTitle\u001B[0m'],
    ['## **Title**', '\u001B[1mTitle\u001B[0m'],
    ['## 2. The **big** *one*', '\u001B[1m2. The big \u001B[0m\u001B[1;3mone\u001B[0m'],
  ])('%s', (markdown, shown) => {
    expect(toTerminalText(markdown, STYLED)).toBe(shown);
  });

  test.each([
    ['2 * 3 * 4'],
    ['2*3*4 and 1*2, 3*4'],
    ['snake_case_name and _private'],
    ['** not bold **'],
    ['a ** b'],
    ['`open'],
    ['5 < 6 & [x] (y) [z]'],
    ['# '],
    ['#tag'],
    ['\u001B[1m'.slice(1)],
  ])('%s is no Markdown', (text) => {
    expect(toTerminalText(text, STYLED)).toBe(text.trim());
  });

  test('an escaped character is shown without its backslash', () => {
    expect(toTerminalText('\\*no\\* 1\\. `\\d`', STYLED)).toBe('*no* 1. \u001B[36m\\d\u001B[0m');
  });

  test('without styles, there are no escape codes', () => {
    expect(plain('# A\n\n**b** *c* `d`')).toBe('A\n\nb c d');
  });

  test('a style continues in the next line', () => {
    expect(toTerminalText('**one two**', { ...STYLED, columns: 5 })).toBe(
      '\u001B[1mone\u001B[0m\n\u001B[1mtwo\u001B[0m',
    );
  });
});

describe('lines', () => {
  test('are broken between words, and kept where the answer has them', () => {
    expect(plain('one two three\nfour', 8)).toBe('one two\nthree\nfour');
  });

  test('of a list hang below the text of their entry', () => {
    expect(plain('- one two three\n  - four five six\n10. seven eight', 10)).toBe(
      '• one two\n  three\n  • four\n    five\n    six\n10. seven\n    eight',
    );
  });

  test('of Japanese text are broken between characters, but not before a mark that closes or after one that opens', () => {
    expect(plain('東京の天気は、晴れ。', 12)).toBe('東京の天気\nは、晴れ。');
    expect(plain('今日は「晴れ」です', 8)).toBe('今日は\n「晴れ」\nです');
    expect(plain('コーヒーとデータ', 6)).toBe('コー\nヒーと\nデータ');
    expect(plain('気温は17℃、晴れ', 8)).toBe('気温は\n17℃、晴\nれ');
  });

  test('contain a word that is longer than they are, so that the terminal continues it', () => {
    expect(plain(`see ${JMA} (2026-11-20)`, 20)).toBe(`see\n${JMA}\n(2026-11-20)`);
    expect(plain(`- ${JMA} x`, 20)).toBe(`• ${JMA}\n  x`);
  });

  test('of a quotation have a bar', () => {
    expect(plain('> one two three', 10)).toBe('│ one two\n│ three');
  });

  test('of code are not broken', () => {
    const code = '```sh\nnpm  run   **build** -- --all\n  x\n```\nafter';
    expect(plain(code, 10)).toBe('    npm  run   **build** -- --all\n      x\nafter');
    expect(toTerminalText(code, STYLED)).toContain('    \u001B[36mnpm  run   **build** -- --all\u001B[0m\n');
  });

  test('that separate are drawn', () => {
    expect(plain('a\n\n---\n\nb', 5)).toBe('a\n\n─────\n\nb');
  });
});

describe('a table', () => {
  const TABLE = '| Source | Price |\n|:---|---:|\n| **A** | $1 |\n| 東京 | $20 |';

  test('has columns of one width', () => {
    expect(plain(TABLE)).toBe('Source  Price\n──────  ─────\nA       $1\n東京    $20');
  });

  test('that is too wide is a list', () => {
    expect(plain(TABLE, 11)).toBe('A\n  Price: $1\n東京\n  Price:\n  $20');
  });

  test('may have bars in its cells, and more cells than its header', () => {
    expect(plain('| `a \\| b` | c |\n|---|---|\n| `ls \\| wc` | counts | more |')).toBe(
      'a | b    c\n───────  ──────  ────\nls | wc  counts  more',
    );
  });

  test('of any number of rows takes no long time', () => {
    const table = `|${'|'.repeat(6000)}\n|-|\n${'||\n'.repeat(6000)}`;
    expect(cpuMs(() => plain(table))).toBeLessThan(500);
    expect(plain(`|a|\n|-|\n${'|b|\n'.repeat(200_000)}`)).toContain('b');
  });

  test('without a rule is text', () => {
    expect(plain('| a | b |\nc')).toBe('| a | b |\nc');
  });
});

describe('links', () => {
  const answer = `Sunny. ([jma.go.jp](${JMA})) Warm. ([jma.go.jp](${JMA}#top)) ([tenki.jp](https://tenki.jp/))

Sources:
- ${JMA} (2026-11-20)
- oai-weather (2026-11-20)`;

  test('have numbers, and their URLs are listed once', () => {
    expect(plain(answer)).toBe(`Sunny. (jma.go.jp\u00A0[1]) Warm. (jma.go.jp\u00A0[1]) (tenki.jp\u00A0[2])

Sources:
[1] ${JMA} (2026-11-20)
 •  oai-weather (2026-11-20)
[2] https://tenki.jp/`);
  });

  test('of an answer without a list of sources are listed after it', () => {
    expect(plain('See [Node.js](https://nodejs.org/en(x)) "now".')).toBe(
      'See Node.js\u00A0[1] "now".\n\n[1] https://nodejs.org/en(x)',
    );
  });

  test('in a list of sources are shown with their URLs', () => {
    expect(
      plain('A ([a.example](https://a.example/1))\n\nSources:\n- [The **title**](https://a.example/1) (2026-01-02)'),
    ).toBe('A (a.example\u00A0[1])\n\nSources:\n[1] The title: https://a.example/1 (2026-01-02)');
  });

  test('may have parentheses', () => {
    const url = 'https://en.wikipedia.org/wiki/Rust_(programming_language)';
    expect(plain(`A ([x](${url})) and ${url} (see ${url}).\n\nSources:\n- ${url} (2026-01-02)`, 300)).toBe(
      `A (x\u00A0[1]) and ${url} (see ${url}).\n\nSources:\n[1] ${url} (2026-01-02)`,
    );
    expect(toTerminalText(`(${url})`, LINKED)).toContain(`;${url}\u001B\\${url}\u001B`);
  });

  test.each([['https://x.example/a?b=[1]&c=*d*'], ['https://x.example/a(b'], ['https://x.example/_a_']])(
    'at the start of a source, %s is a URL',
    (url) => {
      const answer = `A ([x](${url.replace('(', '%28')}))\n\nSources:\n- ${url} (2026-01-02)`;
      expect(toTerminalText(answer, LINKED)).toContain(`;${url}\u001B\\${url}\u001B`);
    },
  );

  test('are followed by a click, where the terminal can', () => {
    const open = `\u001B]8;;${JMA}\u001B\\`;
    const close = '\u001B]8;;\u001B\\';
    expect(toTerminalText(`Sunny. ([jma.go.jp](${JMA}))`, LINKED)).toBe(
      `Sunny. (${open}\u001B[4mjma.go.jp\u001B[0m${close})`,
    );
    expect(toTerminalText(`[the forecast](${JMA})`, LINKED)).toBe(
      `${open}\u001B[4mthe forecast\u001B[0m${close}\u00A0(jma.go.jp)`,
    );
    expect(toTerminalText('[www.microsoft.com](https://t.co/x)', LINKED)).toContain('\u00A0(t.co)');
    expect(toTerminalText(`${JMA}。`, LINKED)).toBe(`${open}${JMA}${close}。`);
  });

  test('contain only what a URL may contain, and open only web pages', () => {
    const shown = toTerminalText(
      '[a](https://a.example/é日\u0007\u009C?q=東#x) [b](file:///etc/passwd) [c](javascript:x)',
      LINKED,
    );
    expect(shown).toContain('\u001B]8;;https://a.example/%C3%A9%E6%97%A5?q=%E6%9D%B1#x\u001B\\');
    expect(shown).toContain('[b](file:///etc/passwd) [c](javascript:x)');
  });

  test('that are too long for a terminal are listed', () => {
    const url = `https://a.example/${'x'.repeat(2048)}`;
    expect(toTerminalText(`[a](${url})`, LINKED)).toContain(`\n[1] ${url}`);
  });
});

describe('any text', () => {
  const markup = fc
    .array(
      fc.constantFrom(
        '**',
        '*',
        '_',
        '`',
        '[',
        ']',
        '(',
        ')',
        'https://a.example/',
        ' ',
        '\n',
        '- ',
        '> ',
        '|',
        '---',
        '東',
        '、',
        'word',
        '\u001B',
        '\u0007',
        '\u009D',
        '\t',
        '```',
        '#',
        '\\',
      ),
    )
    .map((parts) => parts.join(''));

  test('drives the terminal in no other way than with our styles and links', () => {
    fc.assert(
      fc.property(
        fc.oneof(markup, fc.string({ unit: 'binary' })),
        fc.constantFrom(PLAIN, STYLED, LINKED),
        (text, look) => {
          const shown = toTerminalText(text, look);
          const rest = look.hasStyles ? shown.replace(/\u001B\[[\d;]+m|\u001B\]8;;[!-~]*\u001B\\/g, '') : shown;
          expect(rest).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/);
          const opened = shown.match(/\u001B\]8;;[!-~]+\u001B\\/g) ?? [];
          expect(shown.match(/\u001B\]8;;\u001B\\/g) ?? []).toHaveLength(opened.length);
        },
      ),
    );
  });

  test('that consists of words keeps them, in lines that fit', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('a', 'words', '東京', '、', '「', 'ー', 'x'.repeat(9)), { minLength: 1 }),
        (words) => {
          const shown = plain(words.join(' '), 12);
          expect(shown.replace(/\s/g, '')).toBe(words.join(''));
          expect(Math.max(...shown.split('\n').map((line) => stringWidth(line)))).toBeLessThanOrEqual(12);
        },
      ),
    );
  });

  test.each([
    ['**a '],
    ['`'],
    ['`` ` '],
    ['['],
    ['[a]('],
    ['[a](https://a('],
    ['[[a]'],
    ['_a'],
    ['東'],
    ['> '],
    ['|a'],
    ['# #'],
    ['https://.'],
  ])('%j takes about as long as words', (part) => {
    const timeOf = (text: string) => cpuMs(() => toTerminalText(text, LINKED), 2);
    // Of the same length, and of characters of the same width.
    const word = part === '東' ? '東京 ' : 'word ';
    const [words, text] = [word.repeat(20_000 / word.length), part.repeat(20_000 / part.length)];
    // Quadratic work would take hundreds of times as long.
    expect(timeOf(text)).toBeLessThan(30 * timeOf(words));
  });
});
