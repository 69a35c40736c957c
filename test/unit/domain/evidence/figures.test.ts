import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { missingFigures } from '../../../../src/domain/evidence/figures.ts';
import { runs } from '../../../support/sized.ts';

const missing = (claim: string, page: string, isLoose = false) => missingFigures([claim], page, isLoose);

test.each([
  ['12,000円', '1万2,000円'],
  ['35,000円', '価格は3万5,000円です'],
  ['1,000円', '千円'],
  ['half a million people', '500,000 people'],
  ['ten parts per million', '10 ppm'],
  ['an average of .355', 'an average of 0.355'],
  ['打率0.355', '打率.355'],
  ['打率3割5分5厘', '打率.355'],
])('%s is on a page with %s', (claim, page) => {
  expect([missing(claim, page), missing(page, claim)]).toEqual([[], expect.anything()]);
});

test.each([
  ['1,000 people', '1,499 people', ['1,000']],
  ['100 people', '149 people', ['100']],
  ['a million people', '7 people', ['million']],
])('%s is not on a page with %s', (claim, page, figures) => expect(missing(claim, page)).toEqual(figures));

describe('forms of the same figure', () => {
  const forms: readonly (readonly string[])[] = [
    [
      '1,226 people',
      '1226 people',
      '1 226 people',
      "1'226 people",
      '1’226 people',
      '１，２２６人',
      '千二百二十六人',
      '一二二六',
      '1\u202f226',
    ],
    ['1億2380万', '123.8 million', '123,800,000', '123.8M', '一億二千三百八十万', '123 800 000', '0.1238 billion'],
    ['2.4 billion', '24億', '2,400,000,000', '$2.4B', '2.4bn', '2400 million', '二十四億', '2.4-billion'],
    ['450K', '450,000', '45万', '450 thousand', 'four hundred and fifty thousand', '四十五万'],
    ['4億2100万', '421 million', '421,000,000'],
    ['1万2345人', '12,345 people', '12345', '一万二千三百四十五'],
    ['5万1千', '51,000', '51K', '5.1万', 'fifty-one thousand'],
    ['2億人', '200 million', 'two hundred million'],
    [
      '30 %',
      '30%',
      '30 percent',
      '30 per cent',
      '30パーセント',
      '3割',
      '三割',
      '３０％',
      'thirty percent',
      '30 percentage points',
    ],
    ['35%', '3割5分', '三割五分', 'thirty-five percent'],
    ['35.5%', '3割5分5厘', '三割五分五厘'],
    ['2019–21', '2019 to 2021', '2019〜21年', '2019～2021年', '2019/21'],
    ['1.2 trillion', '1.2T', '1兆2000億'],
    ['36 people', 'thirty-six people', '三十六人', '36-person', '３６人'],
    ['250 people', 'two hundred and fifty people', 'two hundred fifty', '二百五十人'],
    ['7 times', 'seven times', '七回', '7回', '７回'],
    ['a dozen eggs', '12 eggs', 'twelve eggs', '十二個'],
    ['two million', '2,000,000', '200万', '2m'],
    ['v20.1', '20.1', 'version 20.1', 'V20.1', '20.1版'],
    ['v5.28.3', '5.28.3', 'undici 5.28.3.'],
    ['64 bits', '64-bit', '64bit', '６４ビット'],
    ['12.5 metres', '12.5m', '12.5メートル', '12.5 m'],
    ['42 wins', '42勝', '四十二勝'],
    ['the 19th century', '19世紀', '十九世紀', 'the nineteenth century'],
    ['the 1990s', '1990年代', '90年代', "the '90s", '一九九〇年代'],
    ['8 PM', '20:00', '午後8時', '20時', '8:00 p.m.'],
    ['1,600 and 2,026', '1600 / 2026', '千六百と二千二十六'],
  ].map((row) => row.map((text) => `x ${text} y`));
  const pairs = forms.flatMap((row) => row.flatMap((claim) => row.map((page) => [claim, page] as const)));
  test.each(pairs)('%j is on a page with %j', (claim, page) => expect(missing(claim, page)).toEqual([]));

  const dates: readonly (readonly string[])[] = [
    [
      '令和6年10月1日',
      '2024-10-01',
      '2024年10月1日',
      'October 1, 2024',
      '1 Oct 2024',
      'Oct. 1, 2024',
      '1st of October, 2024',
      '1 October 2024',
      '2024/10/1',
      '2024.10.01',
      '10/1/2024',
      '1.10.2024',
      '２０２４年１０月１日',
      '二〇二四年十月一日',
      '令和六年十月一日',
      '2024年（令和6年）10月1日',
      'OCTOBER 1st, 2024',
      '2024 年 10 月 1 日',
    ],
    ['May 2020', '2020年5月', '2020/5', '2020-05', '5/2020', '05/2020'],
    ['12月25日', 'December 25', '12/25', '25/12'],
    ['1912', '明治45年', '明治四十五年', '1912年', '一九一二年'],
    ['令和元年5月1日', '2019-05-01', 'May 1, 2019', '2019年5月1日'],
    ['昭和45年3月', '1970年3月', 'March 1970', 'Mar 1970', '昭和四十五年三月'],
    [
      'December 5 to December 23, 2024',
      '2024年12月5日から12月23日',
      '5–23 December 2024',
      'December 5-23, 2024',
      'December 5, 2024 and December 23, 2024',
    ],
    ['March 15 and 17, 2023', 'March 15 through March 17th, 2023', '2023年3月15日と17日', '2023-03-15, 2023-03-17'],
  ];
  const datePairs = dates.flatMap((row) => row.flatMap((claim) => row.map((page) => [claim, page] as const)));
  test.each(datePairs)('%j is on a page with %j', (claim, page) =>
    expect(missing(`x ${claim} y`, `x ${page} y`)).toEqual([]),
  );

  test.each([
    ['October 2024', '1 Oct 2024'],
    ['10月1日', 'October 1, 2024'],
    ['October 1', '2024-10-01'],
    ['in October', '2024-10-01'],
    ['2024年10月', '令和6年10月1日'],
    ['October 1, 2024', 'In 2024, it began on October 1'],
    ['March 16, 2023', 'In March 2023, it was mitigated on the 16th.'],
    ['2010年6月13日', '2010年6月に出発し、13日に着いた'],
    ['9 people', 'the meeting of 9 May'],
    ['1.4 million', '1,402,300'],
    ['1.4 million', '140万2300人'],
    ['123.8 million', '1億2380万2千'],
    ['約1,200人', '1,226人'],
    ['about 53%', '52.7%'],
    ['5.28', '5.28.3'],
    ['Rust 1.82.0', 'Rust 1.82'],
    ['Node.js 27', '27.0.0'],
    ['2,290 metres', '2,290m'],
    ['2.29 billion', '2,290m'],
    ['270,000 in 1872', '27万（1872年）'],
    ['80.0 kg', '80kg'],
  ])('the claim %j gives less or the same as %j', (claim, page) => expect(missing(claim, page)).toEqual([]));
});

describe('figures that the page does not have', () => {
  test.each([
    ['V8 11.3', 'V8 11.8', ['11.3']],
    ['42勝', '47勝', ['42']],
    ['42 parts', '43 parts', ['42']],
    ['11.3 %', '11.4 %', ['11.3 %']],
    ['undici 5.28.3', 'undici 5.29.1', ['5.28.3']],
    ['about 42 % of them', 'about 47 % of them', ['42 %']],
    ['約４２％の人', '47%', ['４２％']],
    ['およそ5割', '8割', ['5割']],
    ['214.6 million downloads', '114.6 million downloads', ['214.6 million']],
    ['3億4000万ドル', '1億1000万ドル', ['3億4000万']],
    ['October 4, 2013', 'November 4, 2013', ['October 4, 2013']],
    ['2014年6月に', '2012年11月6日', ['2014年6月']],
    ['1969年9月8日に', '1969年4月18日', ['1969年9月8日']],
    ['May 2020', '2020/6', ['May 2020']],
    ['2020/5', 'June 2020', ['5']],
    ['2011-12', '2011 to 2013', ['12']],
    ['2019–21', '2019 to 2022', ['21']],
    ['3割5分5厘', '3割5分6厘', ['3割5分5厘']],
    ['in October', 'in November', ['October']],
    ['1587年', '1578年', ['1587年']],
    ['1990', '1992', ['1990']],
    ['fourteen people', 'nine people', ['fourteen']],
    ['thirty-six of 1,226', '35 of 1,225', ['thirty-six', '1,226']],
    ['千二百二十六人', '1,225', ['千二百二十六']],
    ['令和6年10月1日', '令和5年10月1日', ['令和6年10月1日']],
    ['48 months, 48 months and 48 %', 'x', ['48', '48 %']],
    ['226 people', '1,226 people', ['226']],
    ['1.4 million', '1,502,300', ['1.4 million']],
    ['1,402,300', '1.4 million', ['1,402,300']],
    ['about 500 people', '460 people', ['500']],
  ])('%j is not on a page with %j', (claim, page, expected) => expect(missing(claim, page)).toEqual(expected));

  test('at most 10, each once, in the order of the claims', () => {
    const claim = Array.from({ length: 20 }, (_, at) => `x ${at + 1001}`).join(', ');
    expect(missingFigures([claim, claim], 'nothing', false)).toEqual(
      Array.from({ length: 10 }, (_, at) => `${at + 1001}`),
    );
  });
});

test('of a page with too many figures, nothing is known', () => {
  expect(missing('42 people', '7\n'.repeat(20_000))).toEqual(['42']);
  expect(missing('42 people', '7\n'.repeat(20_001))).toBeUndefined();
});

describe('never missing', () => {
  test.each([
    '3 people',
    '2つ',
    'three people',
    'the first and the twenty-third',
    'half of it',
    'twice as many',
    '第一',
    '一般に',
    '万一',
    '十分に',
    'IPv6 on x86',
    'it may rain 3',
    'march on 2',
    '数百人',
    '何十年も',
    '4分の1',
    'no one',
  ])('%j', (claim) => expect(missing(claim, 'nothing')).toEqual([]));
});

describe('a page in another language', () => {
  test.each([
    ['7,310 people', '7.310 Personen'],
    ['7,310 people', '7 310 personnes'],
    ['42.5 %', '42,5 %'],
    ['October 1, 2024', '1. Oktober 2024'],
    ['2024年10月1日', 'le 1er octobre 2024'],
    ['1.4 million', '1,4 Millionen'],
    ['5000万人', '50 Millionen Menschen'],
    ['seven languages', 'sieben Sprachen'],
    ['1,234,567', '1.234.567'],
    ['123,456.7', '123.456,7'],
  ])('%j is on a page with %j', (claim, page) => expect(missing(claim, page, true)).toEqual([]));
  test.each([
    ['7,310 people', '9.310 Personen', ['7,310']],
    ['October 14, 2024', '15. Oktober 2024', ['October 14, 2024']],
  ])('%j is not on a page with %j', (claim, page, expected) => expect(missing(claim, page, true)).toEqual(expected));
});

describe('laws', () => {
  const spaced = (digits: string, separator: string) => digits.replace(/\B(?=(\d{3})+$)/g, separator);
  const wide = (text: string) => text.replace(/[!-~]/g, (c) => String.fromCharCode(c.charCodeAt(0) + 0xfee0));
  const KANJI = '〇一二三四五六七八九';
  const kanji = (value: number): string => {
    for (const [unit, sign] of [
      [1e12, '兆'],
      [1e8, '億'],
      [1e4, '万'],
      [1e3, '千'],
      [100, '百'],
      [10, '十'],
    ] as const) {
      if (value < unit) continue;
      const head = Math.floor(value / unit);
      const rest = value % unit;
      return `${head === 1 && unit < 1e4 ? '' : kanji(head)}${sign}${rest === 0 ? '' : kanji(rest)}`;
    }
    return KANJI[value] ?? '';
  };
  const SMALL =
    'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
      ' ',
    );
  const TENS = 'x x twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');
  const words = (value: number): string => {
    for (const [unit, name] of [
      [1e9, 'billion'],
      [1e6, 'million'],
      [1e3, 'thousand'],
      [100, 'hundred'],
    ] as const) {
      if (value < unit) continue;
      const rest = value % unit;
      return `${words(Math.floor(value / unit))} ${name}${rest === 0 ? '' : `${rest < 100 ? ' and' : ''} ${words(rest)}`}`;
    }
    if (value < 20) return SMALL[value] ?? '';
    return `${TENS[Math.floor(value / 10)]}${value % 10 === 0 ? '' : `-${SMALL[value % 10]}`}`;
  };
  const mixed = (value: number): string => {
    const parts = [
      [1e8, '億'],
      [1e4, '万'],
      [1, ''],
    ] as const;
    let rest = value;
    return parts
      .map(([unit, sign]) => {
        const head = Math.floor(rest / unit);
        rest %= unit;
        return head === 0 ? '' : `${head}${sign}`;
      })
      .join('');
  };
  const numberForms = (value: number) => [
    `${value}`,
    spaced(`${value}`, ','),
    spaced(`${value}`, ' '),
    spaced(`${value}`, "'"),
    spaced(`${value}`, '\u00a0'),
    wide(spaced(`${value}`, ',')),
    kanji(value).length > 1 ? kanji(value) : `${kanji(value)}人`,
    words(value),
    mixed(value),
    ...(value % 1e5 === 0 ? [`${value / 1e6} million`, `${value / 1e6}M`] : []),
    ...(value % 1e3 === 0 ? [`${value / 1e3}K`, `${value / 1e3} thousand`] : []),
  ];
  const oneOf = (forms: readonly string[]) => fc.constantFrom(...forms);
  const both = (forms: readonly string[]) => fc.tuple(oneOf(forms), oneOf(forms));
  const value = fc.oneof(
    fc.integer({ min: 4, max: 999 }),
    fc.integer({ min: 4, max: 999_999_999 }),
    fc.integer({ min: 1, max: 9_999 }).map((n) => n * 100_000),
  );
  const around = fc.constantFrom('', 'x ', '(', '約', '、', '\n', ': ', '$', 'over ');
  const after = fc.constantFrom('', ' y', ')', '人', '。', '\n', ', z', '.', '-y', '円');

  test('a number is not missing from a page that has it in any form', () => {
    const pairs = value.chain((number) => both(numberForms(number)));
    fc.assert(
      fc.property(pairs, around, after, around, after, ([claim, page], a, b, c, d) => {
        expect(missing(`${a}${claim}${b}`, `${c}${page}${d}`)).toEqual([]);
      }),
      { numRuns: runs(1000) },
    );
  });

  test('a percentage is not missing from a page that has it in any form', () => {
    const pairs = fc
      .integer({ min: 4, max: 100 })
      .chain((number) =>
        both([
          `${number}%`,
          `${number} %`,
          `${number} percent`,
          `${number} per cent`,
          `${number}パーセント`,
          wide(`${number}%`),
          `${words(number)} percent`,
          ...(number % 10 === 0 && number < 100
            ? [`${number / 10}割`, `${KANJI[number / 10]}割`]
            : number < 100 && number > 10
              ? [`${Math.floor(number / 10)}割${number % 10}分`]
              : []),
        ]),
      );
    fc.assert(
      fc.property(pairs, around, after, ([claim, page], a, b) => {
        expect(missing(`${a}${claim}${b}`, `x ${page} y`)).toEqual([]);
      }),
      { numRuns: runs(500) },
    );
  });

  test('a date is not missing from a page that has it in any form', () => {
    const NAMES = 'January February March April May June July August September October November December'.split(' ');
    const forms = (year: number, month: number, day: number) => {
      const name = NAMES[month - 1] ?? '';
      const pad = (n: number) => `${n}`.padStart(2, '0');
      const th = (n: number) =>
        `${n}${n % 10 === 1 && n !== 11 ? 'st' : n % 10 === 2 && n !== 12 ? 'nd' : n % 10 === 3 && n !== 13 ? 'rd' : 'th'}`;
      const eras = [
        ['令和', 2019],
        ['平成', 1990],
        ['昭和', 1927],
        ['大正', 1913],
        ['明治', 1868],
      ] as const;
      const [era, first] = eras.find(([, since]) => year >= since) ?? ['明治', 1868];
      const inEra = year - first + (era === '平成' || era === '昭和' || era === '大正' ? 2 : 1);
      return [
        `${year}-${pad(month)}-${pad(day)}`,
        `${year}/${month}/${day}`,
        `${year}.${pad(month)}.${pad(day)}`,
        `${year}年${month}月${day}日`,
        `${wide(`${year}年`) + wide(`${month}`)}月${day}日`,
        `${era}${inEra}年${month}月${day}日`,
        `${era}${kanji(inEra)}年${kanji(month)}月${kanji(day)}日`,
        `${name} ${day}, ${year}`,
        `${name.slice(0, 3)}. ${day}, ${year}`,
        `${day} ${name} ${year}`,
        `${day} ${name.slice(0, 3)} ${year}`,
        `${th(day)} of ${name} ${year}`,
        `${name} ${th(day)}, ${year}`,
        `${name.toUpperCase()} ${day} ${year}`,
      ];
    };
    const pairs = fc
      .tuple(fc.integer({ min: 1880, max: 2040 }), fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 28 }))
      .chain(([year, month, day]) => both(forms(year, month, day)));
    fc.assert(
      fc.property(pairs, ([claim, page]) => {
        expect(missing(`x ${claim} y`, `x ${page} y`)).toEqual([]);
      }),
      { numRuns: runs(1000) },
    );
  });

  test('a text is never missing from itself', () => {
    const texts = fc
      .array(
        fc.oneof(
          fc.constantFrom(
            ...'0123456789,.-/ 年月日割%千万億一二三十百人v:()',
            ' May ',
            ' million',
            ' two ',
            ' hundred and ',
            'k',
            '令和',
            '\n',
            ' pm',
            'th',
            "'",
          ),
          fc.string(),
        ),
        { maxLength: 40 },
      )
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(texts, (text) => {
        expect(missing(text, text)).toEqual([]);
      }),
      { numRuns: runs(1000) },
    );
  });
});
