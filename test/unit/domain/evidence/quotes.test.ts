import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { quotesOn } from '../../../../src/domain/evidence/quotes.ts';

const PAGE =
  'The council said: "It’s the oldest tower of the town – since 1888." The mayor (a member of the council) has 42 steps to climb.\nIt is red. They met in the well-known hall.';
const JAPANESE = '町長は「塔の階段は、全部で 42 段です」と述べた。塔は赤い。';

const state = (quote: string, visible = PAGE, more = {}) =>
  quotesOn([quote], { visible, other: [], isCut: false, ...more })[0]?.state;

// N4.6
describe('a quotation is on a page word for word', () => {
  test.each([
    ['exactly', 'The mayor (a member of the council) has 42 steps to climb.'],
    ['with other blanks', 'The mayor\u00A0(a member of\n the  council) has 42 steps'],
    ['with other quotation marks', "The council said: 'It's the oldest tower of the town"],
    ['with other dashes', 'the oldest tower of the town--since 1888'],
    ['with another case at its beginning', 'the mayor (a member of the council)'],
    ['with a gap of dots', 'The mayor ... has 42 steps to climb'],
    ['with a gap of an ellipsis', 'The mayor … has 42 steps … It is red'],
    ['with a gap in brackets', 'The mayor [...] has 42 steps […] It is red'],
    ['with a gap at its ends', '… a member of the council …'],
    ['with an insertion', 'The mayor [of the town] (a member of the council) has 42 steps'],
    ['with an insertion in place of a word', '[The councillors] met in the well-known hall'],
    ['with a change of case', '[t]he mayor (a member of the council)'],
    ['with a change of case within it', 'It is red. [t]hey met'],
    ['with another width', 'The mayor （ａ member of the council） has ４２ steps'],
    ['with other punctuation at its end', 'The mayor (a member of the council) has 42 steps,'],
    ['with the emphasis of its text', 'The mayor (a **member** of the _council_) has `42` steps'],
    ['over the ends of elements', '42 steps to climb. It is red.'],
    ['with the number of a note', 'The mayor (a member of the council)[3] has 42 steps'],
  ])('%s', (_, quote) => expect(state(quote)).toBe('found'));

  test.each([
    ['another word', 'The mayor (a member of the council) has 43 steps to climb.'],
    ['a word less', 'The mayor (a member of council) has 42 steps to climb.'],
    ['a word more', 'The mayor (a former member of the council) has 42 steps'],
    ['another order', 'The mayor has 42 steps to climb (a member of the council)'],
    ['parts in another order', 'It is red … The mayor'],
    ['a part of a word at its end', 'The mayor (a member of the council) has 42 step'],
    ['a part of a word at its beginning', 'ayor (a member of the council) has 42 steps'],
    ['a part of a number', 'oldest tower of the town – since 188'],
    ['another case within it', 'The mayor (a member of the Council) has 42 steps'],
    ['an insertion for much of the page', 'The council said [it] to climb'],
  ])('not with %s', (_, quote) => expect(state(quote)).toBe('missing'));

  test.each([
    ['塔の階段は、全部で42段です', 'found'],
    ['塔の階段は，全部で４２段です。', 'found'],
    ['塔の階段は（中略）42段です', 'found'],
    ['塔の階段は、全部で43段です', 'missing'],
    ['塔の階段は、合計で42段です', 'missing'],
  ])('in Japanese: %s is %s', (quote, expected) => expect(state(quote, JAPANESE)).toBe(expected));

  test('whose notes it leaves out', () => {
    const page = 'The tower has 42 steps. 1 It is red 2 , and very old.[3] It is high.';
    expect(state('The tower has 42 steps. It is red, and very old. It is high.', page)).toBe('found');
    expect(state('The tower has 42 steps. 1 It is red', page)).toBe('found');
  });

  test('in its title, too', () => {
    expect(state('A tower with 42 steps', PAGE, { other: ['A tower with 42 steps - The town'] })).toBe('found');
  });

  test('in any language', () => {
    expect(state('hat 42 Stufen und ist rot', 'Der Turm der Stadt hat 42 Stufen und ist rot.')).toBe('found');
  });

  test('of which only the beginning was read, as far as that is known', () => {
    expect(state('The mayor (a member', PAGE, { isCut: true })).toBe('found');
    expect(state('The mayor (no member', PAGE, { isCut: true })).toBe('unknown');
  });

  test('or has the nearest passage, with its page in a PDF', () => {
    const visible = 'The tower is red.\nThe mayor has 42 steps to climb.';
    const page = { visible, other: [], isCut: false };
    const quote = 'The mayor has 43 steps to climb';
    const passage = { text: 'The mayor has 42 steps to climb.' };
    expect(quotesOn([quote], page)).toEqual([{ state: 'missing', passage }]);
    expect(quotesOn([quote], { ...page, pages: [0, 18] })).toEqual([
      { state: 'missing', passage: { ...passage, page: 2 } },
    ]);
    expect(quotesOn(['Penguins of Antarctica eat krill'], page)).toEqual([{ state: 'missing' }]);
  });
});

test('any words of a page between blanks are on it', () => {
  const word = fc.constantFrom('tower', 'town,', '42', 'well-known', '(old)', 'It’s', '“red”', '塔は', 'A.B', '3.5');
  fc.assert(
    fc.property(fc.array(word, { minLength: 3, maxLength: 20 }), fc.nat(), fc.nat(), (words, a, b) => {
      const [from, to] = [a % words.length, b % words.length].sort((x, y) => x - y) as [number, number];
      expect(state(words.slice(from, to + 1).join(' '), words.join(' '))).toBe('found');
    }),
  );
});
