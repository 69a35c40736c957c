import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CitationEvidence } from '../../../../src/domain/answers/known-page.ts';
import { evidenceFor } from '../../../../src/domain/evidence/evidence.ts';
import { fold } from '../../../../src/domain/evidence/folded-text.ts';
import { cpuMs } from '../../../support/cpu-time.ts';
import { labelledClaims, pageText } from '../../../support/evidence-pages.ts';
import { runs } from '../../../support/sized.ts';

const URL = 'https://example.com/a';
const cite = (claim: string) => `${claim} ([example.com](${URL}))`;
const check = (claim: string, visible: string, more = {}) =>
  evidenceFor(cite(claim), URL, { visible, other: [], isCut: false, ...more });

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
    ['Penguins weigh 420 grams in winter, as scientists found during 2019.', undefined],
    ['Penguins weigh 430 grams in winter, as scientists found during 2019.', { unrelated: true, missing: ['430'] }],
    ['Penguins weigh 420 grams in winter, as scientists of Antarctica found.', { unrelated: true }],
  ])('a page with all of two or more figures is not unrelated: %s', (claim, expected) =>
    expect(check(claim, ENGLISH)).toEqual(expected),
  );

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
    const claims = [
      cite('Penguins of Antarctica eat 77 sorts of small fish.'),
      cite('The museum is closed on Mondays.'),
    ].join('\n');
    expect(evidenceFor(claims, URL, { visible: ENGLISH, other: [], isCut: false })).toEqual({
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

  const alike = Array.from({ length: 40 }, (_, at) => `aa${(at + 400).toString(36)}`).join(' the ');
  test.each([
    ['figures', 'The firm of Ann Lee built it 470 metres long.', '7 '.repeat(20_001)],
    ['places to compare', `It is 470 metres ${alike}.`, 'the aa '.repeat(40_000)],
  ])('of a page with too many %s, knows no more than of a cut one', (_, claim, more) => {
    for (const text of [claim, claim.replace('470', '')]) {
      const { quote, ...others } = check(text, `${ENGLISH}\n${more}`) ?? {};
      expect(others).toEqual({});
    }
  });

  test('says nothing without a claim', () => {
    expect(
      evidenceFor(`Text.\n\nSources:\n- ${URL}`, URL, { visible: ENGLISH, other: [], isCut: false }),
    ).toBeUndefined();
  });

  test('cuts a long quote inside a sentence, and cleans it', () => {
    const visible = `The ${'very '.repeat(80)}long bridge\u202e of   420 metres ${'goes on '.repeat(80)}.`;
    const quote = check('The long bridge of 420 metres', visible)?.quote ?? '';
    expect(quote).toMatch(/^….*long bridge of 420 metres.*…$/);
    expect(quote.length).toBeLessThanOrEqual(300);
  });
});

describe('laws', () => {
  const WORDS =
    'bridge council museum opened closed metres length firm river winter penguin krill antarctic harbour engine release'.split(
      ' ',
    );
  const sentence = fc
    .array(fc.constantFrom(...WORDS, 'the', 'of', 'is'), { minLength: 4, maxLength: 14 })
    .map((words) => `The ${words.join(' ')}.`);
  const PARTS = [
    '橋の長さは',
    '市議会が',
    '開通させた',
    '博物館',
    '月曜日に',
    'ペンギンは',
    'オキアミを',
    '食べる',
    '大きな',
    '南極で',
  ];
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
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => fold(text).length === text.length));
    expect(fold('İstanbul １２　Ａ')).toBe('istanbul 12 a');
  });
});

describe('time', () => {
  const MAX_CHARS = 300_000;
  const claims = [
    'On April 18, 2023 30 % of 1.4 million users saw 1,226 changes in version 11.3 aaaa.',
    'はやぶさは2003年5月に千二百二十六の微粒子を地球へああああ。',
  ]
    .map(cite)
    .join('\n');
  test.each([
    'a',
    'あ',
    '1',
    '1,',
    '1 234 ',
    '1.',
    '1.1.2 ',
    '一',
    '千百',
    '1億2万3千',
    'two hundred and ',
    'twenty-',
    'may ',
    '5 may ',
    'January 1, 2 and 3, 2024 ',
    '2024年1月1日、2日、',
    '2024年(',
    '令和',
    '1/1/',
    '1-',
    '１，',
    ' ',
    '\n',
    '²',
    '\u200b',
    'users saw ',
    '[',
    '1%',
  ])('of any content is short: %j', (part) => {
    const visible = part.repeat(Math.ceil(MAX_CHARS / part.length)).slice(0, MAX_CHARS);
    // The limit is 150 ms; a busy machine takes longer.
    expect(cpuMs(() => check(claims, visible), 10, 300)).toBeLessThan(300);
  });
});

describe.each([
  ['claims.tsv', 158],
  ['claims-2.tsv', 46],
])('labelled claims: %s', (file, pairs) => {
  const ratio = (results: readonly (CitationEvidence | undefined)[], key: keyof CitationEvidence) =>
    results.filter((evidence) => evidence?.[key] !== undefined).length / results.length;
  const evidenceOf = ({ claim }: { readonly claim: string }, page: string) =>
    evidenceFor(cite(claim), URL, pageText(page));
  const isJapanese = (text: string) => /[ぁ-ヶ]/.test(text);
  const all = labelledClaims(file);
  const labelled = (labels: string) =>
    all.flatMap((entry) => (labels.includes(entry.label) ? [evidenceOf(entry, entry.page)] : []));
  const pages = [...new Set(labelledClaims('claims.tsv').map(({ page }) => page))].sort();

  test('of those with a false figure, at least 80 % have missing figures, of the true ones at most 3 %', () => {
    expect(ratio(labelled('ND'), 'missing')).toBeGreaterThanOrEqual(0.8);
    expect(ratio(labelled('T'), 'missing')).toBeLessThanOrEqual(0.03);
  });

  test('of other pages, at least 85 % are unrelated', () => {
    const others = all
      .filter(({ label, claim, page }) => label === 'T' && isJapanese(claim) === page.startsWith('ja-'))
      .flatMap((entry, i) => {
        const isJa = entry.page.startsWith('ja-');
        const rest = pages.filter((page) => page !== entry.page && page.startsWith('ja-') === isJa);
        return [7 * i, 7 * i + 3].map((at) => evidenceOf(entry, rest[at % rest.length] ?? ''));
      });
    expect(others).toHaveLength(pairs);
    expect(ratio(others, 'unrelated')).toBeGreaterThanOrEqual(0.85);
  });

  test('of the pages of true claims, at most 2 % are unrelated', () => {
    expect(ratio(labelled('T'), 'unrelated')).toBeLessThanOrEqual(0.02);
  });
});
