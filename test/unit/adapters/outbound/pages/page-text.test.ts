import { describe, expect, test } from 'vitest';
import { readPage } from '../../../../../src/adapters/outbound/pages/page-text.ts';

const META = '<meta name="date" content="2024-03-05">';

const read = (page: string, type = 'text/html') => readPage(page, type, false);
const candidatesIn = (page: string) => read(page).candidates;
const visible = (page: string, type?: string) => read(page, type).text.visible;

describe('a date', () => {
  test('is found whatever precedes it', () => {
    for (const part of ['<b></b><br>', '<svg/>', '</p>', '<p>', '<li>', '<title>a &amp; b</title>', '<div><b></div>']) {
      expect(candidatesIn(`${part.repeat(5000)}${META}`).citation).toEqual(['2024-03-05']);
    }
  });

  test('the first of several attributes of a name counts, and entities are decoded', () => {
    const meta = '<META Name="date" CONTENT="2024-03-05&#x54;10&amp;" content="2025-01-01" __proto__="x">';
    expect(candidatesIn(meta).citation).toEqual(['2024-03-05T10&']);
  });

  test.each([
    ['jsonLd', '<script type="application/LD+JSON; charset=utf-8">2024-03-05</script>'],
    ['article', '<meta property="article:published_time" content="2024-03-05">'],
    ['article', '<meta name="og:article:published_time" content="2024-03-05">'],
    ['citation', '<meta name="citation_publication_date" content="2024-03-05">'],
    ['citation', '<meta name="DC.date.issued" content="2024-03-05">'],
    ['citation', '<meta name="pubdate" content="2024-03-05">'],
    ['time', '<meta itemprop="datePublished" content="2024-03-05">'],
    ['time', '<p><time pubdate datetime="2024-03-05">5 March</time>'],
    ['time', '<time itemprop="datePublished" datetime="2024-03-05">5 March</time>'],
  ])('is a candidate of the kind %s in %s', (kind, html) => {
    const none = { jsonLd: [], article: [], citation: [], time: [] };
    expect(candidatesIn(html)).toEqual({ ...none, [kind]: ['2024-03-05'] });
  });

  test.each([
    '<script>2024-03-05</script>',
    '<time datetime="2024-03-05">',
    '<meta name="date.modified" content="2024-03-05">',
    `<!-- ${META} -->`,
  ])('is not in %s', (html) => {
    expect(Object.values(candidatesIn(html)).flat()).toEqual([]);
  });

  test('the text of a script is JSON-LD only to its end', () => {
    const html = '<script type="application/ld+json">{"a": "<b>&amp;"}</script>text<script>no</script>';
    expect(candidatesIn(html).jsonLd).toEqual(['{"a": "<b>&amp;"}']);
  });

  test('an element that ends with a slash has no content in XML, and in other languages inside HTML', () => {
    expect(visible('<script src="x"/><p>a</p>', 'application/xhtml+xml')).toBe('a');
    expect(visible('<svg><style/><path/></svg>a<svg/>b<math/>c')).toBe('a\nb\nc');
  });
});

test('a page is read no further than 256 open elements', () => {
  const page = (open: number) => read(`${'<b>'.repeat(open)}${META}<p>Text`);
  expect(page(255)).toMatchObject({
    candidates: { citation: ['2024-03-05'] },
    text: { visible: 'Text', isCut: false },
  });
  expect(page(256)).toMatchObject({ candidates: { citation: [] }, text: { visible: '', isCut: true } });
});

test.each(['<b>', '</p>', '<svg/>', '<b><svg></b>', '<div><p>', '<p> ', '&nbsp;', '<img alt=a>'])(
  'a page of very many %s is read',
  (part) => {
    // Quadratic work would take minutes, and end with the time limit of tests.
    read(`${'<div>'.repeat(200)}${part.repeat(100_000)}`);
  },
);

test.each([' \n', '\n-', 'x '])('a plain text of very many %j is read', (part) => {
  read(part.repeat(500_000), 'text/plain');
});

describe('the visible text', () => {
  test.each([
    ['<p>One</p><p>Two</p>', 'One\nTwo'],
    ['<table><tr><td>1<td>2<tr><td>3</table>', '1\n2\n3'],
    ['<ul><li>a<li>b</ul>', 'a\nb'],
    ['one<br>two', 'one\ntwo'],
    ['a <b>bold</b> word, <a href=x>link</a>ed', 'a bold word, linked'],
    ['  many \n\t spaces&nbsp; \u3000 here ', 'many spaces here'],
    ['5&ndash;6 &euro;7 &rsquo;x&#39;', "5–6 €7 ’x'"],
    ['a<script>b</script><style>c</style><template>d</template>e', 'a\ne'],
    ['a<noscript><p>b</p></noscript><svg><text>c</text></svg><math>d</math>e', 'a\ne'],
    ['a<iframe>b</iframe><object>c</object><select><option>d</select><!-- e -->f', 'a\nf'],
    ['<div><svg>a</div>b', 'b'],
    ['<head><title>Title</title><meta name=description content=no>stray</head><body>Body', 'Body'],
    ['<head><title>Title</title><p>Body', 'Body'],
    ['<img alt="no">text<input value="no">', 'text'],
  ])('of %s', (page, expected) => {
    expect(visible(page)).toBe(expected);
  });

  test('of plain text joins the lines of a paragraph, and not those of a list', () => {
    expect(visible('A long\nline.\n\nAnother <b>.\n- one\n- two\n1. three', 'text/plain')).toBe(
      'A long line.\nAnother <b>.\n- one\n- two\n1. three',
    );
  });

  test('has at most 300,000 characters', () => {
    const { text } = read(`<p>${'ab '.repeat(100_001)}</p><p>more</p>`);
    expect(text.visible.length).toBe(300_000);
    expect(text.isCut).toBe(true);
    expect(read(`<p>${'ab '.repeat(90_000)}</p>`).text.isCut).toBe(false);
  });
});

test('the texts of some attributes count too', () => {
  const page = `<head><title>s</title><meta name="description" content="d"><meta property="og:title" content="t"><meta name="x" content="no">
    <meta property="og:description" content="o"><meta property="article:published_time" content="2024"></head>
    <time datetime="2025">x</time><img alt="a &amp; b"><img alt=""><p title="no">`;
  expect(read(page).text.other).toEqual(['s', 'd', 't', 'o', '2024', '2025', 'a & b']);
  const long = read(`<img alt="${'x'.repeat(150_000)}"><img alt="y">`).text;
  expect(long).toMatchObject({ other: ['x'.repeat(100_000)], isCut: true });
});
