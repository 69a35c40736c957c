import { expect, test } from 'vitest';
import { payFor } from '../../../../src/application/answers/paid-use.ts';
import type { SearchUse } from '../../../../src/application/ports/llm-search.ts';

const PRICE = { input: 1, output: 10, search: 0.01, pricesOf: '2026-11-17' };
const usage = { inputTokens: 100, cachedTokens: 0, outputTokens: 10, reasoningTokens: 0 };

function pay(uses: readonly SearchUse[], price: typeof PRICE | undefined = PRICE) {
  const seen: SearchUse[] = [];
  const paid = payFor({ onProgress: () => {}, onUsed: (use) => void seen.push(use) }, price);
  for (const use of uses) paid.observer.onUsed?.(use);
  return { cost: paid.cost(), seen };
}

test('all responses of an answer are paid, and each use has its cost', () => {
  const { cost, seen } = pay([{ usage, searches: 2 }, { rounds: 1 }, { usage, searches: 0 }]);
  expect(cost).toEqual({ microUsd: 20_400, pricesOf: '2026-11-17' });
  expect(seen.map(({ microUsd }) => microUsd)).toEqual([20_200, undefined, 200]);
});

test('a response without usage makes the cost unknown, never 0', () => {
  const { cost, seen } = pay([{ usage, searches: 2 }, { searches: 1 }]);
  expect(cost).toBeUndefined();
  expect(seen.map(({ microUsd }) => microUsd)).toEqual([20_200, undefined]);
});

test('who pays for no response pays 0', () => {
  expect(pay([]).cost).toEqual({ microUsd: 0, pricesOf: '2026-11-17' });
});

test('without a price, there is no cost', () => {
  const paid = payFor({ onProgress: () => {} }, undefined);
  expect(paid.cost()).toBeUndefined();
});
