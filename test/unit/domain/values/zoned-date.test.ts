import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { zonedDate } from '../../../../src/domain/values/zoned-date.ts';
import { runs } from '../../../support/sized.ts';

test.each([
  ['2025-12-31T14:59:59.999Z', '2025-12-31'],
  ['2025-12-31T15:00:00.000Z', '2026-01-01'],
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
});
