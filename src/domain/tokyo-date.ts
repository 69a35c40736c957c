/** Japan uses UTC+9 all year, without daylight saving time. */
const TOKYO_OFFSET_MS = 9 * 60 * 60 * 1000;

/** The day of an instant in Asia/Tokyo, as `YYYY-MM-DD` (spec 9). */
export function tokyoDate(instant: Date): string {
  return new Date(instant.getTime() + TOKYO_OFFSET_MS).toISOString().slice(0, 10);
}
