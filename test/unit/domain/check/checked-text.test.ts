import { describe, expect, test } from 'vitest';
import { textPieces } from '../../../../src/adapters/outbound/texts/text-pieces.ts';
import { checkedText } from '../../../../src/domain/check/checked-text.ts';

const lines = (...all: readonly string[]) => all.join('\n');
const A = 'https://a.com/x';
const B = 'https://b.com';
const C = 'https://c.com';
const NAMES = new Map([A, B, C].map((url, index) => [url, 'ABC'.charAt(index)]));
/** Each link as its URL, or the name of its URL here, and its claims. */
const linksOf = (text: string) => {
  const { links, claims } = read(text);
  return links.map(({ url }) => {
    const name = NAMES.get(url) ?? url;
    const own = claims.filter(({ urls }) => urls.includes(url)).map(({ claim }) => claim);
    return own.length === 0 ? name : `${name}: ${own.join(' | ')}`;
  });
};

function read(text: string) {
  const checked = checkedText(text, textPieces(text));
  if (checked.kind === 'too_long') throw new Error('too long');
  return checked;
}

describe('a claim is the sentence with the link', () => {
  test.each<[string, string, readonly string[]]>([
    [
      'with a figure as its label',
      `It grew by [42%](${A}). Now it is [9.4%](${A}).`,
      ['A: It grew by 42%. | Now it is 9.4%.'],
    ],
    ['with an amount as its label', `It cost [$42](${A}), then [3.2m](${B}).`, ['A: It cost $42', 'B: then 3.2m']],
    [
      'with a host as its label',
      `It grew by 42 % ([a.com](${A})), by 43 % ([en.b.com/x](${B})).`,
      ['A: It grew by 42 %', 'B: by 43 %'],
    ],
    [
      'with German abbreviations',
      `Es kostet 4,2 Mio. Euro am 3. Mai 2024 [1](${A}). Es ist alt.`,
      ['A: Es kostet 4,2 Mio. Euro am 3. Mai 2024.'],
    ],
    ['in brackets, twice', `Es hat 42 ([Stadt](${A})) und 43 (Quelle: [Stadt](${B})).`, ['A: Es hat 42', 'B: und 43']],
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
      'with abbreviations before numbers',
      `It cost 42 (cf. Smith et al. 2004, p. 17, ch. 3, no. 5) on Jan. 5, 2020, and J. R. Smith paid 7 [1](${A}). It is so.`,
      ['A: It cost 42 (cf. Smith et al. 2004, p. 17, ch. 3, no. 5) on Jan. 5, 2020, and J. R. Smith paid 7.'],
    ],
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
    ['a bare URL before a dash, an arrow and an emoji', `It is 4: ${A}—so ${B}→${C}🎉`, ['A: It is 4:', 'B', 'C']],
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
      ['A: It has 4 wheels.', 'B: It has 5 e.', 'C: It has 6 F.'],
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
      'a footnote of several paragraphs',
      lines('It is 4.[^1]', '', `[^1]: ${A}`, '', `    ${B}`, '', '    It is old.', '', `    ${C}`),
      ['A: It is 4.', 'B: It is 4.', 'C: It is 4.'],
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
      ['A', 'B: It is 5.', 'C: It is 6 c'],
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
      ['A', 'B: It is 4.'],
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
    expect(linksOf(html)).toEqual(['B: It has relative links, 5 m², and a "page".', 'A: It grew by 4 %.']);
  });

  test.each<[string, string, readonly string[]]>([
    [
      'with paragraphs in items',
      `<!doctype html><p>It is 4 <a href="#1">[1]</a>.</p><h2>Sources</h2><ol><li> <p><a href="${A}">A</a>, 2023</p></li></ol>`,
      ['A: It is 4.'],
    ],
    ['that is a part of a page', `<p>Profit: 55 %</p>\n<p>We visited <a href="${A}">A</a></p>\n`, ['A']],
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
      ['A', 'B: It has 4 b'],
    ],
  ])('of HTML %s', (_, text, expected) => expect(linksOf(text)).toEqual(expected));

  test('of which one is too long is named by its beginning', () => {
    const { links } = read(`It is 4 (${A}/${'a'.repeat(2048)}). It is 5 (${B}).`);
    expect(links.map(({ url, refusal }) => [url, refusal])).toEqual([
      [`${`${A}/${'a'.repeat(99)}`.slice(0, 99)}…`, 'too_long'],
      [B, undefined],
    ]);
  });

  test('with a user name are known without it, and refused', () => {
    const { links } = read('It is 4: https://user:pass@a.com/x and https://a.com/x');
    expect(links.map(({ url, refusal }) => [url, refusal])).toEqual([
      [A, 'user_name'],
      [A, undefined],
    ]);
  });

  test('are counted after the first 2,000, and not read', () => {
    const { links, further } = read(Array.from({ length: 2003 }, (_, at) => `It is 4 (${A}/${at}).`).join('\n\n'));
    expect({ seen: links.length, further, last: links.at(-1)?.url }).toEqual({
      seen: 2000,
      further: 3,
      last: `${A}/1999`,
    });
  });

  test('of an entry of a list are at most ten for each number', () => {
    const urls = Array.from({ length: 12 }, (_, at) => `${A}/${at}`);
    const { claims, links } = read(`It is 4 [1].\n\n[1]: ${urls.join(' ')}`);
    expect([claims[0]?.urls.length, links.length]).toEqual([10, 12]);
  });

  test('have no characters that control a terminal or reorder text', () => {
    const hostile = '\u009B2J\u202E\u{E0041}\u001B[2J';
    const { links, claims } = read(`It ${hostile}is 4 (${A}${hostile}/x).`);
    expect([links[0]?.url, claims[0]?.claim.slice(0, 8)]).toEqual([A, 'It is 4 ']);
  });
});

describe('a source that its sentence names in another form', () => {
  const list = (...entries: readonly string[]) => lines('', '', ...entries);
  test.each<[string, string, readonly string[]]>([
    ['(Source: URL) after its end', `It has 321 steps. (Source: ${A}) It is old.`, ['A: It has 321 steps.']],
    ['Source: URL after its end', `It has 321 steps. Source: ${A}`, ['A: It has 321 steps.']],
    ['on the next line', `It has 321 steps.\nSource: [Museum](${A})`, ['A: It has 321 steps.']],
    ['in the next paragraph', `It has 321 steps.\n\n*Source:* ${A}`, ['A: It has 321 steps.']],
    ['in Japanese', `塔は 321 段です。（出典：${A}）次は 7 です。`, ['A: 塔は 321 段です。']],
    ['with a label in Japanese', `塔は 321 段です（出典：[総務省「統計」](${A})）。`, ['A: 塔は 321 段です。']],
    ['in a nested item', `- It has 321 steps.\n  - ${A}`, ['A: It has 321 steps.']],
    ['\\[1\\]', `It has 321 steps.\\[1\\]${list(`\\[1\\] Museum, ${A}`)}`, ['A: It has 321 steps.']],
    ['¹', `It has 321 steps.¹${list(`¹ ${A}`)}`, ['A: It has 321 steps.']],
    ['※1', `塔は 321 段です※1。${list(`※1 ${A}`)}`, ['A: 塔は 321 段です。']],
    ['※１', `塔は 321 段です※１。${list(`※１ ${A}`)}`, ['A: 塔は 321 段です。']],
    ['［１］', `塔は 321 段です［１］。${list(`［１］ ${A}`)}`, ['A: 塔は 321 段です。']],
    ['（１）', `塔は 321 段です（１）。${list(`（１）${A}`)}`, ['A: 塔は 321 段です。']],
    ['１．', `塔は 321 段です[1]。${list(`１．${A}`)}`, ['A: 塔は 321 段です。']],
    ['①', `塔は 321 段です①。${list(`① ${A}`)}`, ['A: 塔は 321 段です。']],
    ['(1)', `It has 321 steps (1).${list(`(1) Museum, ${A}`)}`, ['A: It has 321 steps.']],
    ['[1] with a list without a heading', `It has 321 steps [1].${list(`1. Museum, ${A}`)}`, ['A: It has 321 steps.']],
    [
      'a named footnote',
      `It has 321 steps[^town][^bell].${list(`[^town]: ${A}`, `[^bell]: ${B}`)}`,
      ['A: It has 321 steps.', 'B: It has 321 steps.'],
    ],
    [
      'a note of HTML',
      `<p>It has 321 steps<sup><a href="#fn1">a</a></sup>.</p><ol><li id="fn1">Museum, <a href="${A}">page</a></li></ol>`,
      ['A: It has 321 steps.'],
    ],
    [
      'a reference whose text is its own URL',
      `It has 321 steps.[^1]${list(`[^1]: Museum, [${A}](${A})`)}`,
      ['A: It has 321 steps.'],
    ],
    [
      'such a reference by a number',
      `It has 321 steps.[1]${list(`[1]: Museum, [${A}](${A})`)}`,
      ['A: It has 321 steps.'],
    ],
    [
      'a link by a number, as chats write it',
      `**It has 321 steps.** ([Museum][1])\n\n* It is **42** old. ([Museum][1], [B](${B}))${list(`[1]: ${A} "Museum"`)}`,
      ['A: It has 321 steps. | It is 42 old.', 'B: It is 42 old.'],
    ],
    ['[^1^][1]', `It has 321 steps[^1^][1].${list(`[1]: ${A}`)}`, ['A: It has 321 steps.']],
    ['[^1^]', `It has 321 steps[^1^].${list(`[^1^] ${A}`)}`, ['A: It has 321 steps.']],
    ['^1^', `It has 321 steps.^1^ It is old.${list(`1. ${A}`)}`, ['A: It has 321 steps.']],
    ['^1,2^', `It has 321 steps^1,2^.${list(`1. ${A}`, `2. ${B}`)}`, ['A: It has 321 steps.', 'B: It has 321 steps.']],
    ['1 in <sup>', `It has 321 steps<sup>1</sup>.${list(`1. ${A}`)}`, ['A: It has 321 steps.']],
    [
      '1 after the end',
      `It has 321 steps.1 It is 42 old.2${list(`1. ${A}`, `2. ${B}`)}`,
      ['A: It has 321 steps.', 'B: It is 42 old.'],
    ],
    ['12 after the end, without a list', `It has 321 steps.12 It is 42 old [B](${B}).`, ['B: It is 42 old B.']],
    [
      '1) in Japanese',
      `塔は 321 段です1)。次は 42 です¹⁾。${list(`1) ${A}`)}`,
      ['A: 塔は 321 段です。 | 次は 42 です。'],
    ],
    ['¹⁻³', `It has 321 steps.¹⁻²${list(`1. ${A}`, `2. ${B}`)}`, ['A: It has 321 steps.', 'B: It has 321 steps.']],
    [
      '【1†source】',
      `It has 321 steps 【1†source】【2†L1-L5】.${list(`1. ${A}`, `2. ${B}`)}`,
      ['A: It has 321 steps.', 'B: It has 321 steps.'],
    ],
    ['[citation:1]', `It has 321 steps[citation:1].${list(`1. ${A}`)}`, ['A: It has 321 steps.']],
    ['[1: 45]', `It has 321 steps [1: 45].${list(`1. ${A}`)}`, ['A: It has 321 steps.']],
    ['a list that it introduces, which is no source', `- We have 4 projects:\n  - ${A}\n  - ${B}`, ['A', 'B']],
  ])('%s', (_, text, expected) => expect(linksOf(text)).toEqual(expected));
});

test.each([
  ['a number in a version', `We use node.js.3 and fig.4 Shows 42 [A](${A}).`, 'We use node.js.3 and fig.4 Shows 42 A.'],
  [
    'a power',
    `It has 10^6^ parts and 45 m^2^ and 5 m<sup>2</sup> [A](${A}).\n\n2. [A](${A})\n6. [A](${A})`,
    'It has 10^6^ parts and 45 m^2^ and 5 m² A.',
  ],
])('%s is no number of a source', (_, text, claim) => expect(read(text).claims[0]?.claim).toBe(claim));

describe('a URL that is not checked is named with the reason', () => {
  test.each<[string, string, readonly string[]]>([
    ['in a fence', `\`\`\`sh\ncurl ${A}\n\`\`\``, [`code ${A}`]],
    ['in a code span', `Run \`curl ${A}\`.`, [`code ${A}`]],
    ['in an indented block', `Run:\n\n    curl ${A}`, [`code ${A}`]],
    ['in <pre>', `<pre>\n${'# a line\n'.repeat(200)}\n\ncurl ${A}\n</pre>`, [`code ${A}`]],
    ['in a comment', `<!-- ${A} -->`, [`comment ${A}`]],
    ['an image', `![x](${A}) <img src="${B}">`, [`image ${A}`, `image ${B}`]],
    ['an image of a badge', `[![x](${B})](${A})`, [`image ${B}`]],
    ['a name in an attribute', `<p xmlns:o="${A}">x</p>`, [`code ${A}`]],
    ['a video', `<video src="${A}"></video>`, [`image ${A}`]],
    [
      'a placeholder',
      'GET http://a.com/{id}/x and http://a.com/<owner>/y',
      ['placeholder http://a.com/{id}/x', 'placeholder http://a.com/<owner>/y'],
    ],
    ['a placeholder in a link', '[x](http://a.com/{id})', ['placeholder http://a.com/{id}']],
    ['a relative link', '[x](docs/x.md) [y](#y)', ['relative docs/x.md', 'relative #y']],
    ['another scheme', '[x](mailto:a@b.com)', ['scheme mailto:a@b.com']],
    ['on an ignored line', `<!-- check-ignore -->\n\nIt is 4 [x](${A}).`, [`ignored ${A}`]],
    ['on a line with the comment', `It is 4 [x](${A}). <!-- check-ignore -->`, [`ignored ${A}`]],
  ])('%s', (_, text, expected) => {
    const { links, skipped } = read(text);
    expect(skipped.map(({ reason, url }) => `${reason} ${url}`)).toEqual(expected);
    expect(links.map(({ url }) => url).filter((url) => expected.includes(url))).toEqual([]);
  });

  test('and a claim on an ignored line is not compared', () => {
    expect(
      read(`It is 5 [x](${B}).\n<!-- check-ignore -->\nIt is 4 [x](${A}).`).claims.map(({ claim }) => claim),
    ).toEqual(['It is 5 x.']);
  });
});

describe('markdown is read by its grammar', () => {
  test.each<[string, string]>([
    ['<!-- in a code span', `A comment begins with \`<!--\`.\n\nIt is 4 [x](${A}).`],
    ['three backticks at the start of a line', `\`\`\`npm install\`\`\` installs it.\n\nIt is 4 [x](${A}).`],
    ['an open fence in a quotation', `> \`\`\`\n> npm install\n\nIt is 4 [x](${A}).`],
    ['tags in code spans', `Use \`<pre>\`.\n\nIt is 4 [x](${A}).\n\nEnd \`</pre>\`.`],
  ])('%s', (_, text) => expect(linksOf(text)).toEqual(['A: It is 4 x.']));
});

test('a link and a claim have their places', () => {
  const text =
    'Title\r\n\r\n> It is\told, and *has*\r\n> 4 &amp; 5 \\[steps\\] [x](https://a.com/x).\r\n\r\n- [^1] https://b.com\r\n';
  const { links, claims } = read(text);
  expect(links.map(({ places }) => places)).toEqual([[{ line: 4, column: 23 }], [{ line: 6, column: 8 }]]);
  expect(claims.map(({ place }) => place)).toEqual([{ line: 3, column: 3 }]);
});

describe('what cites no page', () => {
  test.each<[string, string | undefined]>([
    ['It has 4 steps.', 'nothing'],
    ['It has 4 steps.[^1]\n\n[^1]: A book', 'no_page'],
    [`[IEA](${A}) says 4, while [OECD](${B}) says 5.`, 'unclear'],
    [`It has 4 steps [x](${A}).`, undefined],
  ])('%s', (text, uncited) => expect(read(text).claims.map((claim) => claim.uncited)).toEqual([uncited]));
});
