import fc from 'fast-check';
import { expect, test } from 'vitest';
import { costOf, isOld, LIST, type PriceRows, priceOf } from '../../../../src/domain/answers/prices.ts';

const usage = (inputTokens: number, cachedTokens: number, outputTokens: number) => ({
  inputTokens,
  cachedTokens,
  outputTokens,
});

const row = (input: number) => ({ input, output: 10 * input });
const LISTED = { date: '2026-11-17', rows: { 'gpt-5.2': row(1.75), 'gpt-5.2-20*': row(1.75), 'gpt-5*': row(1) } };

test.each([
  ['gpt-5.2', {}, 1.75, '2026-11-17'],
  ['gpt-5.2-2025-12-11', {}, 1.75, '2026-11-17'],
  ['gpt-5-mini', {}, 1, '2026-11-17'],
  ['gpt-5.2', { 'gpt-5.2': row(3) }, 3, 'configuration'],
  ['gpt-5.2', { 'gpt*': row(2) }, 2, 'configuration'],
  ['gpt-5.2', { 'gpt*': row(2), 'gpt-5.2*': row(4) }, 4, 'configuration'],
  ['gpt-5.2', { 'gpt-5.2*': row(4), 'gpt-5.2': row(5) }, 5, 'configuration'],
  ['constructor', { '*': row(6) }, 6, 'configuration'],
] satisfies readonly (readonly [string, PriceRows, number, string])[])(
  'the price of %s by %j',
  (model, own, input, pricesOf) => {
    expect(priceOf(model, own, LISTED)).toMatchObject({ input, pricesOf });
  },
);

test('a model without a row has no price', () => {
  expect(priceOf('llama', {}, LISTED)).toBeUndefined();
  expect(priceOf('toString', {}, LISTED)).toBeUndefined();
});

test.each([
  [usage(1000, 0, 100), 2, { input: 1.75, cachedInput: 0.175, output: 14, search: 0.01 }, 1750 + 1400 + 20_000],
  [usage(1000, 400, 100), 0, { input: 1.75, cachedInput: 0.175, output: 14 }, 1050 + 70 + 1400],
  [usage(1000, 400, 0), 3, { input: 0.1, output: 1 }, 100],
  [usage(1000, 2000, 0), 0, { input: 1, cachedInput: 0, output: 1 }, 0],
  [usage(3, 0, 0), 0, { input: 0.05, output: 0.4 }, 0],
])('the cost of %j and %i searches is in micro-dollars', (usage, searches, price, expected) => {
  expect(costOf({ usage, searches }, price)).toBe(expected);
});

test('a cost is an integer that grows with the use', () => {
  const tokens = fc.integer({ min: 0, max: 2_000_000 });
  fc.assert(
    fc.property(tokens, tokens, tokens, fc.integer({ min: 0, max: 100 }), (input, cached, output, searches) => {
      const price = { input: 1.75, cachedInput: 0.175, output: 14, search: 0.01 };
      const cost = costOf({ usage: usage(input, Math.min(cached, input), output), searches }, price);
      expect(Number.isSafeInteger(cost)).toBe(true);
      expect(costOf({ usage: usage(input, Math.min(cached, input), output + 1000), searches }, price)).toBeGreaterThan(
        cost,
      );
    }),
  );
});

test('the list of the program has a date and usable rows', () => {
  expect(LIST.date).toMatch(/^\d{4}-\d{2}-\d{2}$/);
  for (const price of Object.values(LIST.rows)) expect(price.output).toBeGreaterThan(price.input);
  expect(priceOf('gpt-5.2', {})?.pricesOf).toBe(LIST.date);
});

test('a list is old after 90 days', () => {
  expect(isOld('2026-01-01', '2026-04-01')).toBe(false);
  expect(isOld('2026-01-01', '2026-04-02')).toBe(true);
});
