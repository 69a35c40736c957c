import { describe, expect, test } from 'vitest';
import { withMarkdownLinks } from '../../../../src/domain/check/html-links.ts';
import { linksIn } from '../../../../src/domain/check/text-links.ts';

const lines = (...all: readonly string[]) => all.join('\n');
const A = 'https://a.com/x';
const B = 'https://b.com';
const C = 'https://c.com';
const NAMES = new Map([A, B, C].map((url, index) => [url, 'ABC'.charAt(index)]));
/** Each link as its URL, or the name of its URL here, and its claims. */
const linksOf = (text: string) =>
  linksIn(withMarkdownLinks(text)).links.map(({ url, claims }) => {
    const name = NAMES.get(url) ?? url;
    return claims.length === 0 ? name : `${name}: ${claims.join(' | ')}`;
  });

describe('a claim is the sentence with the link', () => {
  test.each<[string, string, readonly string[]]>([
    ['before its end', `It is old. It grew by 42 % [a page](${A}).`, ['A: It grew by 42 % a page.']],
    ['after its end, in brackets', `It is old. It grew by 42 %. ([a.com](${A})) It is 7.`, ['A: It grew by 42 %.']],
    ['at its beginning', `According to [IEA](${A}), it grew by 4 %. Not 5.`, ['A: According to IEA, it grew by 4 %.']],
    ['at the beginning of the next one', `It is 5. [IEA](${A}) says that it is 4.`, ['A: IEA says that it is 4.']],
    ['wrapped', `It is a\nlong paragraph of 42\nwords. [1](${A})`, ['A: It is a long paragraph of 42 words.']],
    ['in Japanese', `古い。\n人口は42万人です（[統計局](${A})）。次は7です。`, ['A: 人口は42万人です。']],
    ['in Japanese, after its end', `人口は42万人です。[統計局](${A})`, ['A: 人口は42万人です。']],
    ['in Japanese, of the next one', `古い。[総務省](${A})によると42です。`, ['A: 総務省によると42です。']],
    ['a row of a table', `| Oslo | 42 | [1](${A}) |`, ['A: Oslo 42']],
    ['an item', `- One has 4 [1](${A})\n- Two has 5 [2](${B})`, ['A: One has 4', 'B: Two has 5']],
    [
      'of two links, what precedes each',
      `It rose by 4 % [1](${A}), then by 5 % [2](${B}).`,
      ['A: It rose by 4 %', 'B: then by 5 %'],
    ],
    ['of two names with figures after both, unknown', `[IEA](${A}) says 4, while [OECD](${B}) says 5.`, ['A', 'B']],
    ['of two names of which one is first, unknown', `[IEA](${A}) fell by 4, and [OECD](${B}) too.`, ['A', 'B']],
    [
      'of two numbers, what precedes each',
      `It fell by 4 [1](${A}), then by 5 [2](${B}), to 3.`,
      ['A: It fell by 4', 'B: then by 5'],
    ],
    [
      'of lines of a quote',
      `> It grew by 42 %\n> in a year\n> [1](${A}).\nIt is 5.`,
      ['A: It grew by 42 % in a year.'],
    ],
    ['of a quote that is a note', `> [!NOTE]\n> It grew by 42 % [1](${A}).`, ['A: It grew by 42 %.']],
    [
      'with an abbreviation',
      `It had 4 in 1888 vs. 5 at Tower Inc. in 1999 (e.g. in May) [1](${A}).`,
      ['A: It had 4 in 1888 vs. 5 at Tower Inc. in 1999 (e.g. in May).'],
    ],
    ['with a name in code', `It has 4 of [\`them\`](${A}) now.`, ['A: It has 4 of them now.']],
    [
      'shared by links that follow each other',
      `It rose by 4 % ([1](${A}), [2](${B})).`,
      ['A: It rose by 4 %.', 'B: It rose by 4 %.'],
    ],
    [
      'of each link to the page',
      `One is 4 [1](${A}#p). Two is 5 [1](${A}/?utm_source=openai).`,
      [`${A}#p: One is 4. | Two is 5.`],
    ],
  ])('%s', (_, text, expected) => expect(linksOf(text)).toEqual(expected));
});

describe('links', () => {
  test.each<[string, string, readonly string[]]>([
    ['a bare URL', `It has 4 wheels: ${A}.`, ['A: It has 4 wheels:.']],
    ['a bare URL in brackets, with brackets', `It is 4 (https://a.com/x_(y)).`, ['https://a.com/x_(y): It is 4.']],
    ['a bare URL before Japanese words', 'http://a.com/ja参照', ['http://a.com/ja']],
    [
      'a bare URL with a path of no name before Japanese words',
      `42件、詳細はhttps://a.com/を参照`,
      ['https://a.com/: 42件、詳細はを参照'],
    ],
    [
      'a page that is written in several ways',
      'It is 4: HTTP://a.com:80/x http://A.com/x/',
      ['HTTP://a.com:80/x: It is 4:'],
    ],
    ['a Japanese URL', 'https://ja.wikipedia.org/wiki/東京', ['https://ja.wikipedia.org/wiki/東京']],
    ['an autolink', `It has 4. <${A}>`, ['A: It has 4.']],
    [
      'a reference',
      lines('It has 4 [wheels][d]. It has 5 [e]. It has 6 [F][].', '', `[d]: ${A} "T"`, `[e]: <${B}>`, `[f]: ${C}`),
      ['A: It has 4 wheels.', 'B: It has 5.', 'C: It has 6 F.'],
    ],
    [
      'a footnote',
      lines('It is 4.[^1] It is 5.[^n]', '', `[^1]: A title, ${A}.`, `[^n]: ${B}`),
      ['A: It is 4.', 'B: It is 5.'],
    ],
    [
      'numbered sources',
      lines('It is 4.[1] It is 5 [2, 3].', '', '## References', `1. A 2023 ${A}`, `2) [B](${B})`, `[3] ${C}`),
      ['A: It is 4.', 'B: It is 5.', 'C: It is 5.'],
    ],
    [
      'numbers that follow each other',
      lines('It is 4.[1][2] It is 5.[^1][^2]', 'Sources:', `1. ${A}`, `2. ${B}`, `[^1]: ${A}`, `[^2]: ${B}`),
      ['A: It is 4. | It is 5.', 'B: It is 4. | It is 5.'],
    ],
    [
      'a number of a source without a link',
      lines('It is 4 [1], then 5 [2].', 'Sources:', `1. A book`, `2. ${A}`),
      ['A: then 5'],
    ],
    [
      'numbers that each list of sources starts anew',
      lines('It is 4 [1].', '', 'Sources:', `1. ${A}`, '', 'It is 5 [1].', '', 'Sources:', `1. ${B}`),
      ['A: It is 4.', 'B: It is 5.'],
    ],
    [
      'prose after a list of sources, which ends it',
      lines(
        'Sources:',
        `1. [A](${A}), 2023`,
        '',
        '   Read in 2024.',
        '',
        `It is 5 ([b](${B})).`,
        '',
        `- It is 6 [c](${C})`,
      ),
      ['B: It is 5.', 'C: It is 6 c', 'A'],
    ],
    [
      'prose with a heading that could be of sources',
      lines('## Notes', `It is 5 ([b](${B})). It is 4 [1].`, '', `1. A page of 2023 ${A}`),
      ['B: It is 5.', 'A: It is 4.'],
    ],
    ['a source that is a paragraph', lines('## References', '', `A page of 2023. ${A}`), ['A']],
    ['a reference without a definition', `It has 4 [wheels][x] (${A}).`, ['A: It has 4 [wheels][x].']],
    ['numbered sources in Japanese', lines('42です［1］。', '', '参考文献', `1．統計 ${A}`), ['A: 42です。']],
    [
      'sources of an answer',
      lines('It is 4 [2].', '', 'Sources:', `- ${A} (2026-01-05)`, `- [2] ${B} (2026-01-05)`),
      ['B: It is 4.', 'A'],
    ],
    [
      'a list of claims with numbers',
      lines(`1. One is 4 ([a.com](${A}))`, `2. Two is 5 ([b.com](${B}))`),
      ['A: One is 4', 'B: Two is 5'],
    ],
    ['HTML in Markdown', `<b>It is 4</b> (<a class="x" href="${A}?a=1&amp;b=2">a</a>).`, [`${A}?a=1&b=2: It is 4.`]],
    ['a badge', `[![Build](https://img.com/b.svg)](${A}) ![x](https://img.com/c.png)`, ['A']],
    ['a badge by reference', lines('[![Build][b]][u]', '', '[b]: https://img.com/b.svg', `[u]: ${A}`), ['A']],
    ['a heading, which claims nothing', `## [1.2.3](${A}) (2023-01-05)`, ['A']],
    ['a link without a claim', `- [A page of 2023](${A})`, ['A']],
    ['no code', lines('```', `curl ${A}`, '```', `Use \`curl ${B}\` 4 times.`), []],
    ['no user name', 'It is 4: https://user:pass@a.com/x', ['A: It is 4:']],
    ['a number without a source', 'It is 4 [9].', []],
    ['no other scheme', '[x](mailto:a@b.com) <ftp://a.com> [y](/z)', []],
  ])('%s', (_, text, expected) => expect(linksOf(text)).toEqual(expected));

  test('of an HTML document: paragraphs, and numbered references, without scripts and navigation', () => {
    const html = lines(
      '<!doctype html><html><head><title>4</title></head><body><nav><a href="https://nav.com">N</a></nav>',
      `<script>"<a href='https://s.com'>"</script><p>It grew\n by 4&nbsp;%<sup><a href="#r1">1</a></sup>.`,
      `It has <a href="/rel">relative</a> links, 5 m<sup>2</sup>, and <a href="${B}">a &quot;page&quot;</a>.</p>`,
      `<h2>References</h2><ol><li id=r1>IEA, <a href='${A}'>2023</a></li></ol></body></html>`,
    );
    expect(linksOf(html)).toEqual(['A: It grew by 4 %.', 'B: It has relative links, 5 m2, and a "page".']);
  });

  test.each<[string, string, readonly string[]]>([
    [
      'with paragraphs in items',
      `<!doctype html><p>It is 4 <a href="#1">[1]</a>.</p><h2>Sources</h2><ol><li> <p><a href="${A}">A</a>, 2023</p></li></ol>`,
      ['A: It is 4.'],
    ],
    ['that is a part of a page', `<p>Profit: 55 %</p>\n<p>We visited <a href="${A}">A</a></p>\n`, ['A: We visited A']],
    [
      'with entities',
      `<p>It has 43&thinsp;000 &ndash; or 5&minus;6 &ndash; of <a href="${A}">A</a>.</p>`,
      ['A: It has 43 000 – or 5−6 – of A.'],
    ],
    ['with code', `<!doctype html><p>Use <code>curl <b>${A}</b></code> for 4 <code>pages</code>.</p>`, []],
    ['with code in Markdown', `# A\nUse <code>curl ${A}</code> for 4.`, []],
    [
      'before Markdown',
      `<p align="center"><a href="${A}">A</a></p>\n\n- It has 4 [b](${B})\n\n<b>B</b>`,
      ['A: A', 'B: It has 4 b'],
    ],
  ])('of HTML %s', (_, text, expected) => expect(linksOf(text)).toEqual(expected));

  test('of which one is too long is named by its beginning', () => {
    const { links } = linksIn(`It is 4 (${A}/${'a'.repeat(2048)}). It is 5 (${B}).`);
    expect(links).toEqual([
      { url: `${`${A}/${'a'.repeat(99)}`.slice(0, 99)}…`, isTooLong: true, claims: ['It is 4.'] },
      { url: B, isTooLong: false, claims: ['It is 5.'] },
    ]);
  });

  test('are counted after the first 2,000, and not read', () => {
    const { links, further } = linksIn(Array.from({ length: 2003 }, (_, at) => `It is 4 (${A}/${at}).`).join(' '));
    expect({ seen: links.length, further, last: links.at(-1)?.url }).toEqual({
      seen: 2000,
      further: 3,
      last: `${A}/1999`,
    });
  });

  test('of an entry of a list are at most ten for each number', () => {
    const urls = Array.from({ length: 12 }, (_, at) => `${A}/${at}`);
    const { links } = linksIn(`It is 4 [1].\n\n[1]: ${urls.join(' ')}`);
    expect(links.map(({ claims }) => claims.length)).toEqual([...Array(10).fill(1), 0, 0]);
  });

  test('have no characters that control a terminal or reorder text', () => {
    const hostile = '\u009B2J\u202E\u{E0041}\u001B[2J';
    expect(linksIn(`It ${hostile}is 4 (${A}${hostile}/x).`).links).toEqual([
      { url: `${A}/x`, isTooLong: false, claims: ['It is 4.'] },
    ]);
  });

  // Work that is quadratic would take minutes, and the test would time out.
  test.each(['<!--', '[', 'https://', '<a href="', '[1] ', `[x](${A}) 5. `, '<p ', '<a href=#'])(
    'are looked for in a text of many %s',
    (part) => {
      expect(linksIn(withMarkdownLinks(`Text ${part.repeat(200_000 / part.length)}`)).links.length).toBeLessThan(2);
    },
  );
});
