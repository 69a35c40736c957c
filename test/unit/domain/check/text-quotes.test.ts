import { describe, expect, test } from 'vitest';
import { textPieces } from '../../../../src/adapters/outbound/texts/text-pieces.ts';
import { checkedText } from '../../../../src/domain/check/checked-text.ts';

const A = 'https://a.com/x';
const B = 'https://b.com';
const NAMES = new Map([
  [A, 'A'],
  [B, 'B'],
]);
/** A sentence of more than 25 characters. */
const SAID = 'The tower of the town has 42 steps';

/** The quotations of a text, with the names of the pages on one of which each must be. */
function quotesOf(text: string) {
  const checked = checkedText(text, textPieces(text));
  if (checked.kind === 'too_long') throw new Error('too long');
  return checked.quotes.map(({ quote, urls }) => `${urls.map((url) => NAMES.get(url) ?? url).join('')}: ${quote}`);
}

// N4.6
describe('a passage in quotation marks is a quotation', () => {
  test.each([
    ['typographic', `“${SAID}”`],
    ['straight', `"${SAID}"`],
    ['French', `«${SAID}»`],
    ['French, with blanks', `«\u00A0${SAID}\u00A0»`],
    ['German', `„${SAID}“`],
    ['of `<q>`', `<q>${SAID}</q>`],
  ])('in marks that are %s', (_, quoted) => {
    expect(quotesOf(`The mayor says ${quoted} ([source](${A})).`)).toEqual([`A: ${SAID}`]);
  });

  test.each([
    ['「塔の階段は全部で四十二段」', '塔の階段は全部で四十二段'],
    ['『塔の階段は全部で四十二段』', '塔の階段は全部で四十二段'],
    ['「町の人は「とても古い塔」と言う」', '町の人は「とても古い塔」と言う'],
  ])('in Japanese marks: %s', (quoted, text) => {
    expect(quotesOf(`町長は${quoted}と述べた（[出典](${A})）。`)).toEqual([`A: ${text}`]);
  });

  test('from 25 characters, or 12 in Japanese', () => {
    const link = `([source](${A})).`;
    expect(quotesOf(`He says “${'x'.repeat(24)}” ${link}`)).toEqual([]);
    expect(quotesOf(`He says “${'x'.repeat(25)}” ${link}`)).toHaveLength(1);
    expect(quotesOf(`町長は「${'塔'.repeat(11)}」と述べた${link}`)).toEqual([]);
    expect(quotesOf(`町長は「${'塔'.repeat(12)}」と述べた${link}`)).toHaveLength(1);
  });

  test.each([
    ['without a link in its paragraph', `The mayor says “${SAID}”.\n\nSee [a page](${A}).`],
    ['in code', `Write \`{"description": "${SAID}"}\` as in [the example](${A}).`],
    ['in a heading', `## “${SAID}” ([source](${A}))`],
    ['whose mark is not closed', `The mayor says “${SAID} ([source](${A})).`],
    ['between inches', `It is 5" wide, as [the town](${A}) says of its tower, and 6" high.`],
    ['beside a badge only', `[![badge](http://a.com/b.svg)](${A}) “${SAID}”`],
    ['on a line that is ignored', `The mayor says “${SAID}” ([source](${A})). <!-- check-ignore -->`],
  ])('but not %s', (_, text) => expect(quotesOf(text)).toEqual([]));

  test('over the ends of sentences and lines, with the words of links in it', () => {
    const text = `The mayor says: “The tower is old. It has\n**42** [steps](${B})” ([source](${A})).`;
    expect(quotesOf(text)).toEqual(['BA: The tower is old. It has **42** steps']);
  });
});

describe('a quotation must be on the pages', () => {
  test.each([
    ['of the link after it', `As [a page](${B}) knows, he says “${SAID}” [1](${A}).`, 'A'],
    ['of its sentence, before it', `It is [old](${B}). [The mayor](${A}) says “${SAID}”.`, 'A'],
    ['of its sentence, one of several', `[One](${A}) and [another](${B}) say “${SAID}” to all.`, 'AB'],
    ['of its paragraph', `The mayor says “${SAID}” to all. It is [old](${B}).`, 'B'],
    ['of its note', `The mayor says “${SAID}”.[^1]\n\n[^1]: The town, ${A}`, 'A'],
    ['of the source on the next line', `The mayor says “${SAID}”.\nSource: ${A}`, 'A'],
    ['of the link in it', `The mayor says “${SAID} [1](${A})” to all, and [another](${B}) agrees.`, 'A'],
    ['of its row', `| mayor | “${SAID}” | [1](${A}) |\n|---|---|---|\n| a | b | c |`, 'A'],
  ])('%s', (_, text, pages) => {
    expect(quotesOf(text)).toEqual([`${pages}: ${SAID}`]);
  });

  test('each of two in a sentence on that of its own link', () => {
    const text = `One says “${SAID}” [1](${A}), another “${SAID.replace('42', '43')}” [2](${B}).`;
    expect(quotesOf(text)).toEqual([`A: ${SAID}`, `B: ${SAID.replace('42', '43')}`]);
  });

  test('not on that of the next sentence', () => {
    expect(quotesOf(`[The mayor](${A}) says “${SAID}.” [Others](${B}) disagree.`)).toEqual([`A: ${SAID}.`]);
  });
});

describe('a block quote is a quotation', () => {
  test.each([
    ['with its link in it', `> ${SAID}. ([source](${A}))`, `A: ${SAID}.`],
    ['with its link after a dash', `> ${SAID}.\n> — [The town](${A})`, `A: ${SAID}.`],
    ['with its link in a paragraph of its own', `> ${SAID}.\n>\n> — The mayor, [The town](${A}), 2024`, `A: ${SAID}.`],
    ['with its link in a paragraph without other words', `> ${SAID}.\n>\n> [The town](${A})`, `A: ${SAID}.`],
    ['with its source', `> ${SAID}.\n> Source: ${A}`, `A: ${SAID}.`],
    ['that is the label of its link', `> [${SAID}](${A})`, `A: ${SAID}`],
    ['with a number', `> ${SAID}.[^1]\n\n[^1]: ${A}`, `A: ${SAID}.`],
    ['with the paragraph before it', `[The town](${A}) says:\n\n> ${SAID}.`, `A: ${SAID}.`],
    ['with the paragraph after it', `> ${SAID}.\n\n[The town](${A})`, `A: ${SAID}.`],
    [
      'with the last sentence before it',
      `It is old. The town says so on [its page](${A}).\n\n> ${SAID}.`,
      `A: ${SAID}.`,
    ],
    ['with a short sentence after it', `> ${SAID}.\n\n[The town](${A}) says so.`, `A: ${SAID}.`],
    ['with the item that it is in', `- [The town](${A}) says:\n\n  > ${SAID}.`, `A: ${SAID}.`],
    ['that is short', `> Old.\n> — [The town](${A})`, 'A: Old.'],
    ['in HTML', `<blockquote><p>${SAID}.</p><p>— <a href="${A}">The town</a></p></blockquote>`, `A: ${SAID}.`],
    ['of two paragraphs', `> ${SAID}.\n>\n> It is red.\n>\n> — [The town](${A})`, `A: ${SAID}. … It is red.`],
    ['in Japanese', `> 塔の階段は42段です。\n> 出典：[町](${A})`, 'A: 塔の階段は42段です。'],
  ])('%s', (_, text, expected) => expect(quotesOf(text)).toEqual([expected]));

  test('whose sentences are compared with it, and cite nothing of their own', () => {
    const text = `> ${SAID}.\n\n[The town](${A})\n\nIt has 7 bells.`;
    const checked = checkedText(text, textPieces(text));
    expect(checked).toMatchObject({ claims: [{ claim: 'It has 7 bells.', urls: [] }], quotes: [{ urls: [A] }] });
  });

  test.each([
    ['an alert of GitHub', `> [!NOTE]\n> ${SAID} ([source](${A})).`],
    ['an alert in its first form', `> **Warning**\n> ${SAID} ([source](${A})).`],
    ['a quotation without a link near it', `Text.\n\n> ${SAID}.\n\nText.\n\n[A page](${A})`],
    ['an aside, whose link is a part of what it says', `> This is moved to [the new page](${A}) of the town.`],
    ['a quotation beside a heading with a link', `# [The town](${A})\n\n> ${SAID}.`],
    ['an aside with a label', `See [the town](${A}):\n\n> 👉 **Note**: ${SAID}.`],
    ['an aside with a word', `See [the town](${A}):\n\n> Important: ${SAID}.`],
    ['an aside after a paragraph that goes on', `It uses [a library](${A}). It has a limit.\n\n> ${SAID}.`],
    ['an aside after a list', `- It is small.\n- It uses [a library](${A}).\n\n> ${SAID}.`],
    [
      'a slogan',
      `# Tower\n\n> ${SAID}\n\nTower is a tool for those who climb, like [the others](${A}), and it needs much time.`,
    ],
    ['a quotation beside badges', `> ${SAID}.\n\n[![badge](http://a.com/b.svg)](${A})`],
  ])('but not %s', (_, text) => expect(quotesOf(text)).toEqual([]));

  test('by its links, not by the quotation marks in it', () => {
    expect(quotesOf(`> He says “${SAID}” to all. ([source](${A}))`)).toEqual([`A: He says “${SAID}” to all.`]);
  });
});

test('the place of a quotation is its opening mark, or its first word in a block', () => {
  const text = `Text.\n\nThe mayor says “${SAID}” ([source](${A})).\n\n> **${SAID}.** ([source](${A}))`;
  const checked = checkedText(text, textPieces(text));
  expect(checked.kind === 'text' && checked.quotes.map(({ place }) => place)).toEqual([
    { line: 3, column: 16 },
    { line: 5, column: 5 },
  ]);
});
