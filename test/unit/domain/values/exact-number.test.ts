import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  ExactNumber,
  exactNumberIn,
  rounded,
  toJsonText,
  WRITES_DIGITS,
} from '../../../../src/domain/values/exact-number.ts';
import { isObject, parseJson, sortedJson } from '../../../../src/domain/values/json.ts';
import { redactedJson, redactedValue } from '../../../../src/domain/values/redaction.ts';

const CHANGED = [
  '9007199254740993',
  '-9007199254740993',
  '1234567890123456789',
  '725653563933458432123',
  '1e400',
  '-1E+0400',
  '12.5e400',
  '1e-400',
  '0.1234567890123456789',
  '1234567.8901234567891',
];

// S78: with each version of Node.js.
describe('a number that a number of JavaScript would change', () => {
  test.each(CHANGED)('%s is read with every digit, at each place', (source) => {
    const exact = new ExactNumber(source);
    expect(parseJson(source)).toEqual(exact);
    expect(parseJson(` [1, ${source}]`)).toEqual([1, exact]);
    expect(parseJson(`{"a":${source} ,"b":"x"}`)).toEqual({ a: exact, b: 'x' });
    expect(parseJson(`{"a":{"b":[{"c":\n${source}\n}]}}`)).toEqual({ a: { b: [{ c: exact }] } });
  });

  test.each(CHANGED)('%s is written with every digit', (source) => {
    const text = `{"a":[${source},"${source}",1],"b":null}`;
    expect(toJsonText(parseJson(text))).toBe(text);
  });

  test.each(CHANGED)('%s is no object, and has a path', (source) => {
    expect(isObject(parseJson(source))).toBe(false);
    expect(exactNumberIn(parseJson(`{"a/b":[0,{"~":${source}}]}`))).toEqual({ path: '/a~1b/1/~0', source });
  });

  test('is a number of JavaScript for a comparison with a schema', () => {
    const value = { a: [1, 'x', null], b: 2 };
    expect(rounded(value)).toBe(value);
    const exact = parseJson('{"a":[9007199254740993,1e400,-1e400]}');
    expect(rounded(exact)).toEqual({ a: [9007199254740992, Number.MAX_VALUE, -Number.MAX_VALUE] });
  });
});

describe('other numbers', () => {
  test.each(['0', '-0', '1.0', '1.10', '1e2', '9007199254740992', '1e21', '1.7976931348623157e308', '5e-324'])(
    '%s is a number of JavaScript',
    (source) => {
      expect(parseJson(`{"a":${source}}`)).toEqual({ a: Number(source) });
    },
  );

  test('are as JSON.parse reads them', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parseJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  test('a text with many digits stays a text, whatever it contains', () => {
    const texts = ['1234567890123456789', '#1234567890123456789', '##', ': 1e400', '\\": 1e400,', '#\u0023'];
    for (const one of texts) {
      const value = { [one]: [one], a: parseJson('1e400') };
      const json = `{${JSON.stringify(one)}:[${JSON.stringify(one)}],"a":1e400}`;
      expect(parseJson(json)).toEqual(value);
    }
    expect(parseJson(String.raw`["\u0023\u0023123", 1e400]`)).toEqual(['##123', new ExactNumber('1e400')]);
  });

  test('what is no JSON stays so', () => {
    for (const text of ['1234567890123456789x', '{"a":1e400', '[01234567890123456789]', 'NaN'])
      expect(parseJson(text)).toBeUndefined();
  });
});

const WRITTEN = WRITES_DIGITS ? '1e400' : '"1e400"';

test(`by JSON.stringify, digits are written as ${WRITES_DIGITS ? 'a number' : 'a text'} (Node.js ${process.version})`, () => {
  const value = { b: { c: parseJson('1e400') }, a: 'secret' };
  expect(JSON.stringify(value)).toBe(`{"b":{"c":${WRITTEN}},"a":"secret"}`);
  expect(sortedJson(value)).toBe(`{"a":"secret","b":{"c":${WRITTEN}}}`);
});

test('texts for clients have every digit with each version of Node.js, also masked and indented', () => {
  const value = { b: { c: parseJson('1e400') }, a: 'a secret', '##': '##' };
  const redact = (text: string) => text.replaceAll('secret', '…');
  expect(redactedJson(value, redact)).toBe('{"b":{"c":1e400},"a":"a …","##":"##"}');
  expect(redactedJson([value.b], redact, 2)).toBe('[\n  {\n    "c": 1e400\n  }\n]');
  expect(redactedValue(value, redact)).toEqual({ ...value, a: 'a …' });
});
