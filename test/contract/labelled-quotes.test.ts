import { describe, expect, test } from 'vitest';
import { textPieces } from '../../src/adapters/outbound/texts/text-pieces.ts';
import { checkedText } from '../../src/domain/check/checked-text.ts';
import { quotesOn } from '../../src/domain/evidence/quotes.ts';
import { labelledQuotes } from '../support/labelled-quotes.ts';

/** Whether a report with a quotation gets a finding. */
function isReported(quote: string, page: Parameters<typeof quotesOn>[1]): boolean {
  const report = `It is known. The page says ${quote} ([source](https://a.com/page)).\n`;
  const text = checkedText(report, textPieces(report));
  const quotes = text.kind === 'text' ? text.quotes.map((one) => one.quote) : [];
  if (quotes.length !== 1) throw new Error(`${quotes.length} quotations in ${quote}`);
  return quotesOn(quotes, page).some(({ state }) => state === 'missing');
}

// N4.6: the first half was written before the comparison, the second half after it.
describe('labelled quotations', () => {
  const all = labelledQuotes();

  test('are sixty, of which half are not on their page', () => {
    expect(all.map(({ half }) => half).filter((half) => half === '1')).toHaveLength(30);
    expect(all).toHaveLength(60);
  });

  test.each(['1', '2'])('of half %s are found if they were altered or invented', (number) => {
    const wrong = all.filter(({ half, label }) => half === number && 'AOI'.includes(label));
    const missed = wrong.filter(({ quote, page }) => !isReported(quote, page)).map(({ quote }) => quote);
    expect(missed).toEqual([]);
  });

  test.each(['1', '2'])('of half %s are not reported if the page has them', (number) => {
    const right = all.filter(({ half, label }) => half === number && 'ED'.includes(label));
    const reported = right.filter(({ quote, page }) => isReported(quote, page)).map(({ quote }) => quote);
    expect(reported).toEqual([]);
  });
});
