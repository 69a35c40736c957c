import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { evidenceFor, figuresOn } from '../../../../src/domain/evidence/evidence.ts';
import { fold } from '../../../../src/domain/evidence/folded-text.ts';
import { anyCharacter } from '../../../support/any-text.ts';
import { runs } from '../../../support/sized.ts';

const check = (claim: string, visible: string, more = {}) =>
  evidenceFor([claim], { visible, other: [], isCut: false, ...more });

const ENGLISH =
  'The council opened the bridge in May 2019. It is 420 metres long and was built by the firm of Ann Lee.\nThe museum is closed on Mondays.';
const JAPANESE =
  '市議会は2019年5月に橋を開通させた。橋の長さは420メートルで、建設には三年かかった。\n博物館は月曜日に休館する。';

describe('evidence', () => {
  test('quotes the sentences that resemble the claim', () => {
    expect(check('The firm of Ann Lee has built it, 420 m long.', ENGLISH)).toEqual({
      quote: 'It is 420 metres long and was built by the firm of Ann Lee.',
    });
    expect(check('橋の長さは420mである。', JAPANESE)).toEqual({
      quote: '橋の長さは420メートルで、建設には三年かかった。',
    });
  });

  test('lists figures that the page does not have, next to the quote', () => {
    expect(check('The firm of Ann Lee built it 470 metres long.', ENGLISH)).toEqual({
      quote: 'It is 420 metres long and was built by the firm of Ann Lee.',
      missing: ['470'],
    });
  });

  test('finds figures in the other texts of the page', () => {
    expect(check('The firm of Ann Lee built it 470 metres long.', ENGLISH, { other: ['470'] })).not.toHaveProperty(
      'missing',
    );
  });

  test('has no quote if no passage resembles the claim', () => {
    expect(check('Penguins of Antarctica eat krill and small fish.', ENGLISH)).toEqual({ unrelated: true });
    expect(check('南極のペンギンはオキアミを食べる。', JAPANESE)).toEqual({ unrelated: true });
  });

  test.each([
    ['a short claim', 'Penguins eat krill.'],
    ['a short claim', 'ペンギン', JAPANESE],
    ['another language than the page', '南極のペンギンはオキアミを食べる。'],
    ['another language than the page', 'Penguins of Antarctica eat krill and small fish.', JAPANESE],
    [
      'a German page',
      'Penguins of Antarctica eat krill and small fish.',
      'Die Brücke wurde von der Stadt gebaut und ist sehr lang. Das Museum ist am Montag geschlossen.',
    ],
    ['a French claim', 'Les manchots de la banquise mangent du krill et des poissons.'],
    [
      'a Chinese page',
      '南極のペンギンはオキアミを食べる。',
      '这座桥是由市议会建造的，长四百二十米，博物馆星期一关闭。',
    ],
  ])('knows nothing about %s', (_, claim, page = ENGLISH) => expect(check(claim, page)).toBeUndefined());

  test('takes claims together: quote of the best, unrelated only if each is', () => {
    const claims = ['Penguins of Antarctica eat 77 sorts of small fish.', 'The museum is closed on Mondays.'];
    expect(evidenceFor(claims, { visible: ENGLISH, other: [], isCut: false })).toEqual({
      quote: 'The museum is closed on Mondays.',
      missing: ['77'],
    });
  });

  test('of a cut page, knows only a quote', () => {
    expect(check('The firm of Ann Lee built it 470 metres long.', ENGLISH, { isCut: true })).toEqual({
      quote: 'It is 420 metres long and was built by the firm of Ann Lee.',
    });
    expect(check('Penguins of Antarctica eat 77 small fish.', ENGLISH, { isCut: true })).toBeUndefined();
  });

  test('compares figures with data, which have no language', () => {
    const page = { visible: 'year,units\n2023,4210', other: [], isCut: false, isData: true };
    expect(figuresOn(['It made 4,210 units.', 'It made 4,211 units.'], page)).toEqual([
      { missing: [] },
      { missing: ['4,211'] },
    ]);
    expect(evidenceFor(['It made 4,211 units.'], page)).toEqual({ missing: ['4,211'] });
  });

  test('quotes a sentence without the heading that has its words, too', () => {
    const page = 'The tower\nThe tower of the town has 42 steps. It is not old.';
    expect(check('The tower has 43 steps.', page)?.quote).toBe('The tower of the town has 42 steps.');
  });

  test('says nothing without a claim', () => {
    expect(evidenceFor([], { visible: ENGLISH, other: [], isCut: false })).toBeUndefined();
  });

  test('cuts a long quote inside a sentence, and cleans it', () => {
    const visible = `The ${'very '.repeat(80)}long bridge\u202e of   420 metres ${'goes on '.repeat(80)}.`;
    const quote = check('The long bridge of 420 metres', visible)?.quote ?? '';
    expect(quote).toMatch(/^….*long bridge of 420 metres.*…$/);
    expect(quote.length).toBeLessThanOrEqual(300);
  });
});

describe('laws', () => {
  const WORDS = 'bridge council museum opened metres river winter penguin antarctic harbour the of is'.split(' ');
  const sentence = fc
    .array(fc.constantFrom(...WORDS), { minLength: 4, maxLength: 14 })
    .map((words) => `The ${words.join(' ')}.`);
  const PARTS = '橋の長さは 市議会が 開通させた 博物館 月曜日に ペンギンは オキアミを 食べる 南極で'.split(' ');
  const japanese = fc
    .array(fc.constantFrom(...PARTS), { minLength: 3, maxLength: 10 })
    .map((parts) => `${parts.join('')}。`);
  const filler = fc
    .array(fc.oneof(fc.string(), sentence, japanese), { maxLength: 20 })
    .map((texts) => texts.join('\n'));

  test('a page that has the sentence of the claim is never unrelated', () => {
    fc.assert(
      fc.property(fc.oneof(sentence, japanese), filler, filler, (claim, before, after) => {
        expect(check(claim, `${before}\n${claim}\n${after}`) ?? {}).not.toHaveProperty('unrelated');
      }),
      { numRuns: runs(500) },
    );
  });

  test('a quote is one line of the page, of at most 300 characters', () => {
    fc.assert(
      fc.property(sentence, filler, (claim, page) => {
        const { quote = 'x' } = check(claim, page) ?? { quote: 'x' };
        expect(quote.length).toBeGreaterThan(0);
        expect(quote.length).toBeLessThanOrEqual(300);
        expect(quote).not.toMatch(/[\n\r]/);
      }),
    );
  });

  test('a folded text has the length of the text', () => {
    fc.assert(fc.property(fc.string({ unit: anyCharacter }), (text) => fold(text).length === text.length));
    expect(fold('İstanbul １２　Ａ')).toBe('istanbul 12 a');
  });
});
