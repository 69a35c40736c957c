import type { PriceRow } from '../../../domain/answers/prices.ts';
import { integer, mapOf, type ReadContext, readValue, type ValueKind, yamlOnly } from './kinds.ts';
import { DOCUMENTS } from './member-words.ts';
import { membersOf } from './table.ts';
import { CALLER, CALLERS } from './value-kinds.ts';

const WORDS = { document: `${DOCUMENTS}/reference/config-reference.md` };

const MAX_USD = 1_000_000;

/** Dollars, which may have decimals. */
export const usd: ValueKind<number> = yamlOnly(
  `a number of dollars, such as 2.5, from 0 to ${MAX_USD}`,
  { type: 'number', minimum: 0, maximum: MAX_USD },
  (value) =>
    typeof value === 'number' && Number.isFinite(value) && value >= 0 && value <= MAX_USD ? value : undefined,
);

const LIMITS = 'calls_per_day, searches_per_day, tokens_per_day, usd_per_day';
const COUNT = integer(0);
/** A limit by its name: a count, or dollars. */
const LIMIT: ValueKind<number> = {
  ...COUNT,
  schema: { type: 'number', minimum: 0 },
  fromYaml: (value, context) =>
    context.where.endsWith('.usd_per_day') ? readValue(usd, value, context) : COUNT.fromYaml(value, context),
};

const PRICE = membersOf(
  'a map of prices in dollars: input, cached_input and output for a million tokens, and search for one search',
  { input: { kind: usd }, cached_input: { kind: usd }, output: { kind: usd }, search: { kind: usd } },
  WORDS,
);
const COMPLETE_PRICE: ValueKind<PriceRow> = {
  ...PRICE,
  fromText: () => undefined,
  fromYaml: (value: unknown, context: ReadContext) => {
    const { input, output, ...others } = PRICE.fromYaml(value, context) ?? {};
    return input === undefined || output === undefined ? undefined : { input, output, ...others };
  },
};

/** Prices by the ID of a model, or by its beginning and `*`. */
export const prices = mapOf(
  'a map of model IDs, which may end with *, to prices in dollars, such as {my-model: {input: 1.25, output: 10}}',
  COMPLETE_PRICE,
  /^[\w.:/-]+\*?$/,
);

/** The limits of single callers. */
export const quotaCallers = mapOf(
  `a map of ${CALLERS}, to their limits (${LIMITS}), such as {alice: {calls_per_day: 50}}`,
  mapOf(`a map of limits (${LIMITS})`, LIMIT, /^(?:calls|searches|tokens|usd)_per_day$/),
  CALLER,
);
