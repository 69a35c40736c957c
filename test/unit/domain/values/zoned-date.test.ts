import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { zonedDate } from '../../../../src/domain/values/zoned-date.ts';
import { runs } from '../../../support/sized.ts';

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

describe('laws', () => {
  const zones = fc.constantFrom('Asia/Tokyo', 'UTC', ...Intl.supportedValuesOf('timeZone'));
  const instants = fc.date({ min: new Date('1970-01-01'), max: new Date('2100-01-01'), noInvalidDate: true });
  const locale = (instant: Date, timeZone: string) => instant.toLocaleDateString('sv-SE', { timeZone });

  test('the day is that of Intl, in any zone', () => {
    fc.assert(
      fc.property(instants, zones, (instant, zone) => {
        expect(zonedDate(instant, zone)).toBe(locale(instant, zone));
      }),
      { numRuns: runs(300) },
    );
  });

  test('the day in Tokyo, which is computed without Intl, is that of Intl', () => {
    fc.assert(
      fc.property(instants, (instant) => {
        expect(zonedDate(instant, 'Asia/Tokyo')).toBe(locale(instant, 'Asia/Tokyo'));
      }),
    );
  });

  test('the day never goes back as time passes', () => {
    fc.assert(
      fc.property(instants, fc.nat({ max: 1_000_000_000 }), zones, (instant, ms, zone) => {
        const later = new Date(instant.getTime() + ms);
        expect(zonedDate(instant, zone) <= zonedDate(later, zone)).toBe(true);
      }),
      { numRuns: runs(200) },
    );
  });
});
