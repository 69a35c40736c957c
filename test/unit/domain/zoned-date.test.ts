import { expect, test } from 'vitest';
import { zonedDate } from '../../../src/domain/zoned-date.ts';

test.each([
  ['2025-12-31T14:59:59.999Z', '2025-12-31'],
  ['2025-12-31T15:00:00.000Z', '2026-01-01'],
  ['2026-02-28T15:00:00Z', '2026-03-01'],
  ['2028-02-28T15:00:00Z', '2028-02-29'],
  ['2026-07-01T00:00:00Z', '2026-07-01'],
  ['2026-07-01T23:59:59+09:00', '2026-07-01'],
])('%s is %s in Tokyo', (instant, day) => {
  expect(zonedDate(new Date(instant), 'Asia/Tokyo')).toBe(day);
});
