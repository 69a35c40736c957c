/** Japan keeps UTC+9 the whole year round and has no daylight saving time. */
const TOKYO_OFFSET_MS = 9 * 60 * 60 * 1000;

/** The day in Asia/Tokyo of an instant, as `YYYY-MM-DD` (spec 9). */
export function tokyoDate(instant: Date): string {
  return new Date(instant.getTime() + TOKYO_OFFSET_MS).toISOString().slice(0, 10);
}
