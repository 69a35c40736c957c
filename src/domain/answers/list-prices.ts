// Generated from config/prices.json by npm run docs.

type Row = readonly [model: string, input: number, cachedInput: number | null, output: number, search: number];

/** Dollars for a million tokens, and for one search. Source: https://developers.openai.com/api/docs/pricing */
export const LIST_PRICES: { readonly date: string; readonly rows: readonly Row[] } = {
  date: '2026-11-28',
  rows: [
    ['gpt-6.1-sol', 2, 0.1, 10, 0.01],
    ['gpt-6-sol', 2, 0.2, 10, 0.01],
    ['gpt-6-luna', 0.1, 0.01, 0.5, 0.01],
    ['gpt-6-astra', 10, 1, 50, 0.01],
    ['gpt-5.6-terra', 2, 0.2, 12, 0.01],
    ['gpt-5.6-luna', 0.2, 0.02, 1.2, 0.01],
    ['gpt-5.5', 5, 0.5, 30, 0.01],
    ['gpt-5.5-pro', 30, null, 180, 0.01],
    ['gpt-5.4', 2.5, 0.25, 15, 0.01],
    ['gpt-5.4-mini', 0.75, 0.075, 4.5, 0.01],
    ['gpt-5.4-nano', 0.2, 0.02, 1.25, 0.01],
    ['gpt-5.4-pro', 30, null, 180, 0.01],
    ['gpt-5.2', 1.75, 0.175, 14, 0.01],
    ['gpt-5.2-pro', 21, null, 168, 0.01],
    ['gpt-5.1', 1.25, 0.125, 10, 0.01],
    ['gpt-5', 1.25, 0.125, 10, 0.01],
    ['gpt-5-mini', 0.25, 0.025, 2, 0.01],
    ['gpt-5-nano', 0.05, 0.005, 0.4, 0.01],
    ['gpt-5-pro', 15, null, 120, 0.01],
    ['gpt-4.1', 2, 0.5, 8, 0.01],
    ['gpt-4.1-mini', 0.4, 0.1, 1.6, 0.01],
    ['gpt-4.1-nano', 0.1, 0.025, 0.4, 0.01],
    ['gpt-4o', 2.5, 1.25, 10, 0.01],
    ['gpt-4o-mini', 0.15, 0.075, 0.6, 0.01],
  ],
};
