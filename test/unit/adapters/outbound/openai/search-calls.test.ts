import { expect, test } from 'vitest';
import { queriesOf } from '../../../../../src/adapters/outbound/openai/search-calls.ts';

test('of the queries of one call, at most 50 are reported', () => {
  const queries = Array.from({ length: 2000 }, (_, index) => `query ${index}`);
  expect(queriesOf({ action: { type: 'search', queries } })).toEqual(queries.slice(0, 50));
});
