/** Formats by time zone, kept because creating one takes longer than using it. A process uses one or two zones. */
const FORMATS = new Map<string, Intl.DateTimeFormat>();

/** The latest day, which one call asks for several times. In every time zone, a day ends at a full quarter of an hour. */
let latest = { quarter: Number.NaN, timeZone: '', day: '' };
const QUARTER_MS = 15 * 60 * 1000;

/** The day of an instant in an IANA time zone, as `YYYY-MM-DD`. */
export function zonedDate(instant: Date, timeZone: string): string {
  const quarter = Math.floor(instant.getTime() / QUARTER_MS);
  if (latest.quarter !== quarter || latest.timeZone !== timeZone)
    latest = { quarter, timeZone, day: dayOf(instant, timeZone) };
  return latest.day;
}

function dayOf(instant: Date, timeZone: string): string {
  const format = FORMATS.get(timeZone) ?? dayFormat(timeZone);
  FORMATS.set(timeZone, format);
  const parts = format.formatToParts(instant);
  const values = Object.fromEntries(parts.map(({ type, value }) => [type, value]));
  return `${String(values.year).padStart(4, '0')}-${values.month}-${values.day}`;
}

/** The time of an instant in an IANA time zone, as `HH:MM`. */
export function zonedTime(instant: Date, timeZone: string): string {
  const format = { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  return new Intl.DateTimeFormat('en-u-nu-latn', format).format(instant);
}

function dayFormat(timeZone: string): Intl.DateTimeFormat {
  const options = { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' } as const;
  return new Intl.DateTimeFormat('en-u-ca-iso8601-nu-latn', options);
}
