import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { limitsOf, NOTHING_USED, quotaDay, reachedUnit } from '../../../../src/domain/values/quota.ts';
import { zonedDate, zonedTime } from '../../../../src/domain/values/zoned-date.ts';

test('the limits of a caller replace those for all, one by one', () => {
  const policy = { limits: { calls: 100, tokens: 5000 }, callers: { alice: { calls: 3, searches: 7 } } };
  expect(limitsOf(policy, 'alice')).toEqual({ calls: 3, searches: 7, tokens: 5000 });
  expect(limitsOf(policy, 'bob')).toEqual({ calls: 100, tokens: 5000 });
  expect(limitsOf(policy, 'constructor')).toEqual({ calls: 100, tokens: 5000 });
});

test('a limit is reached when all of it is used', () => {
  expect(reachedUnit({ calls: 2 }, { ...NOTHING_USED, calls: 1, tokens: 9 })).toBeUndefined();
  expect(reachedUnit({ calls: 2 }, { ...NOTHING_USED, calls: 2 })).toBe('calls');
  expect(reachedUnit({ tokens: 0 }, NOTHING_USED)).toBe('tokens');
  expect(reachedUnit({}, { calls: 1e9, searches: 1e9, tokens: 1e9, usd: 0 })).toBeUndefined();
});

test.each([
  ['2026-11-22T14:59:59.999Z', 'Asia/Tokyo', '2026-11-22', '2026-11-22T15:00:00.000Z'],
  ['2026-11-22T15:00:00.000Z', 'Asia/Tokyo', '2026-11-23', '2026-11-23T15:00:00.000Z'],
  // Days with 23 and 25 hours.
  ['2026-03-28T23:00:00Z', 'Europe/Berlin', '2026-03-29', '2026-03-29T22:00:00.000Z'],
  ['2026-10-24T22:00:00Z', 'Europe/Berlin', '2026-10-25', '2026-10-25T23:00:00.000Z'],
  // Clocks were turned from 00:00 to 01:00.
  ['2018-11-04T02:59:59Z', 'America/Sao_Paulo', '2018-11-03', '2018-11-04T03:00:00.000Z'],
  // Samoa had no 30 December 2011.
  ['2011-12-30T09:00:00Z', 'Pacific/Apia', '2011-12-29', '2011-12-30T10:00:00.000Z'],
])('the day of %s in %s is %s, until %s', (instant, zone, date, endsAt) => {
  expect(quotaDay(new Date(instant), zone)).toEqual({ date, endsAt: new Date(endsAt) });
});

test('the time of an instant in a zone', () => {
  expect(zonedTime(new Date('2026-11-22T15:00:00Z'), 'Asia/Tokyo')).toBe('00:00');
  expect(zonedTime(new Date('2018-11-04T03:00:00Z'), 'America/Sao_Paulo')).toBe('01:00');
});

describe('laws', () => {
  const zones = fc.constantFrom('Asia/Tokyo', 'UTC', ...Intl.supportedValuesOf('timeZone'));
  const instants = fc.date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true });

  test('a day ends with the first instant of another date, within 26 hours', () => {
    fc.assert(
      fc.property(zones, instants, (zone, instant) => {
        const { date, endsAt } = quotaDay(instant, zone);
        expect(date).toBe(zonedDate(instant, zone));
        expect(zonedDate(endsAt, zone) > date).toBe(true);
        expect(zonedDate(new Date(endsAt.getTime() - 1), zone)).toBe(date);
        expect(endsAt > instant).toBe(true);
        expect(endsAt.getTime() - instant.getTime()).toBeLessThanOrEqual(26 * 3_600_000);
      }),
      { numRuns: 30 },
    );
  });

  test('all instants of a day have the same end', () => {
    fc.assert(
      fc.property(zones, instants, fc.double({ min: 0, max: 1, noNaN: true }), (zone, instant, part) => {
        const day = quotaDay(instant, zone);
        const later = new Date(instant.getTime() + part * (day.endsAt.getTime() - 1 - instant.getTime()));
        expect(quotaDay(later, zone)).toEqual(day);
      }),
      { numRuns: 30 },
    );
  });
});
