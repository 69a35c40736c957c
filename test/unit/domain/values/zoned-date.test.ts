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

test.each([
  ['UTC', '2026-11-29T00:00:00Z'],
  ['Asia/Kolkata', '2026-11-28T18:30:00Z'],
  ['Asia/Kathmandu', '2026-11-28T18:15:00Z'],
  ['Australia/Eucla', '2026-11-28T15:15:00Z'],
  ['America/St_Johns', '2026-11-29T03:30:00Z'],
])('the end of a day in %s is seen at once', (zone, midnight) => {
  const end = new Date(midnight).getTime();
  expect([end - 1, end].map((ms) => zonedDate(new Date(ms), zone))).toEqual(['2026-11-28', '2026-11-29']);
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

  test('days of two zones at one instant do not mix', () => {
    fc.assert(
      fc.property(instants, zones, zones, (instant, one, other) => {
        for (const zone of [one, other, one]) expect(zonedDate(instant, zone)).toBe(locale(instant, zone));
      }),
      { numRuns: runs(100) },
    );
  });
});
