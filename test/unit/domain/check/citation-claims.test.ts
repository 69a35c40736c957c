import { expect, test } from 'vitest';
import { textPieces } from '../../../../src/adapters/outbound/texts/text-pieces.ts';
import { claimsFor as claimsOf } from '../../../../src/domain/check/citation-claims.ts';

const claimsFor = (text: string, url: string) => claimsOf(textPieces(text), url);
const URL = 'https://example.com/a';
const LINK = `[example.com](${URL})`;

test.each([
  ['the text before the link', `It grew by 42 %. (${LINK})`, ['It grew by 42 %.']],
  ['only the same line', `Another line.\nIt grew. ${LINK}`, ['It grew.']],
  ['the text since the previous link', `One [x](https://example.com/b) and two ${LINK}.`, ['and two']],
  ['a claim shared by links that follow each other', `One claim ([b](https://example.com/b), ${LINK})`, ['One claim']],
  ['a claim of each link to the page', `One ${LINK}. Two ${LINK}.`, ['One', '. Two']],
  ['a link whose URL has a fragment, a trailing slash and tracking', `One [x](${URL}/?utm_source=openai#top)`, ['One']],
  ['a link in brackets with a title', `One [[1]](<${URL}> "A page")`, ['One']],
  ['a row of a table', `| Oslo | 42 | ${LINK} |`, ['Oslo 42']],
  [
    'no list number, emphasis, tag, code, note or URL',
    `12. **One** <b>two</b> \`x 99\` [3] https://example.org/77 three ${LINK}`,
    ['One two three'],
  ],
  ['no text after the link', `${LINK} says 42.`, []],
  ['no bare URL', `One 42 ${URL}`, []],
  ['no fenced code', `\`\`\`\nx = 42 ${LINK}\n\`\`\``, []],
  ['nothing of another page', 'One [x](https://example.com/b)', []],
])('claims: %s', (_, text, expected) => expect(claimsFor(text, URL)).toEqual(expected));

test('finds a URL with parentheses', () => {
  expect(claimsFor('One [x](https://example.com/A_(b)).', 'https://example.com/A_(b)')).toEqual(['One']);
});

test('keeps the last 400 characters, without the end of a number', () => {
  const [claim = ''] = claimsFor(`${'word '.repeat(30)}1,226${' x'.repeat(199)} ${LINK}`, URL);
  expect(claim.length).toBeLessThanOrEqual(400);
  expect(claim).toMatch(/^x x/);
});

test('keeps the first 20 claims', () => {
  const text = Array.from({ length: 30 }, (_, at) => `Claim ${at} ${LINK}`).join('\n');
  expect(claimsFor(text, URL)).toHaveLength(20);
});

test.each([
  ['**4. Title**: It is red', 'Title: It is red'],
  ['### 37. It is red', 'It is red'],
  ['**37.** It is red', 'It is red'],
  ['- 37) It is red', 'It is red'],
  ['37．赤いです', '赤いです'],
  ['4\\. It is red', 'It is red'],
  ['about **42**% of them', 'about 42% of them'],
  ['参加者は300~450人', '参加者は300~450人'],
])('has no marks of lists, and figures as they are written: %s', (text, claim) => {
  expect(claimsFor(`${text} [x](https://example.com/a)`, 'https://example.com/a')).toEqual([claim]);
});
