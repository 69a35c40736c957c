import { LIST_PRICES } from './list-prices.ts';

/** Prices in dollars: of a million tokens, and of one search. */
export interface PriceRow {
  readonly input: number;
  /** That of cached tokens; without it, `input` counts. */
  readonly cachedInput?: number | undefined;
  readonly output: number;
  readonly search?: number | undefined;
}

/** Rows by the ID of a model, or by the beginning of IDs, which ends with `*`. */
export type PriceRows = Readonly<Record<string, PriceRow>>;

/** The price of a model, and where it is from: `configuration`, or the date of the list. */
export interface ModelPrice extends PriceRow {
  readonly pricesOf: string;
}

/** The cost of an answer, in micro-dollars. */
export interface Cost {
  readonly microUsd: number;
  readonly pricesOf: string;
}

const MICRO = 1_000_000;

/** The list prices of OpenAI, as of their date. A dated version, such as `gpt-5.2-2025-12-11`, costs what its model costs. */
export const LIST = {
  date: LIST_PRICES.date,
  rows: Object.fromEntries<PriceRow>(
    LIST_PRICES.rows.flatMap(([model, input, cachedInput, output, search]) => {
      const row = { input, cachedInput: cachedInput ?? undefined, output, search };
      return [model, `${model}-20*`].map((name) => [name, row] as const);
    }),
  ),
};

/** The price of a model: of its own row, else of that with the longest beginning. A row of the configuration wins over every row of the list. */
export function priceOf(model: string, own: PriceRows, list = LIST): ModelPrice | undefined {
  const ofOwn = rowFor(model, own);
  if (ofOwn !== undefined) return { ...ofOwn, pricesOf: 'configuration' };
  const listed = rowFor(model, list.rows);
  return listed && { ...listed, pricesOf: list.date };
}

function rowFor(model: string, rows: PriceRows): PriceRow | undefined {
  if (Object.hasOwn(rows, model)) return rows[model];
  const beginnings = Object.keys(rows).filter((key) => key.endsWith('*') && model.startsWith(key.slice(0, -1)));
  const [longest] = beginnings.sort((one, other) => other.length - one.length);
  return longest === undefined ? undefined : rows[longest];
}

interface Use {
  /** Cached tokens are a part of the input. */
  readonly usage: { readonly inputTokens: number; readonly cachedTokens: number; readonly outputTokens: number };
  readonly searches: number;
}

/** The cost of a response in micro-dollars, as an integer. */
export function costOf({ usage, searches }: Use, price: PriceRow): number {
  const cached = Math.min(usage.cachedTokens, usage.inputTokens);
  // A price in dollars for a million tokens is one in micro-dollars for a token; as an integer, it has no error of binary fractions.
  const tokens =
    (usage.inputTokens - cached) * toMicro(price.input) +
    cached * toMicro(price.cachedInput ?? price.input) +
    usage.outputTokens * toMicro(price.output);
  return Math.round(tokens / MICRO) + searches * toMicro(price.search ?? 0);
}

/** Dollars as an integer of micro-dollars. */
export function toMicro(usd: number): number {
  return Math.round(usd * MICRO);
}

/** Micro-dollars as dollars, for JSON. */
export function toUsd(microUsd: number): number {
  return microUsd / MICRO;
}

/** Days after which prices may have changed. */
const OLD_DAYS = 90;

/** Whether a list may be out of date on a day, `YYYY-MM-DD`. */
export function isOld(listDate: string, today: string): boolean {
  return Date.parse(today) - Date.parse(listDate) > OLD_DAYS * 24 * 60 * 60 * 1000;
}
