/** The day of an instant in an IANA time zone, as `YYYY-MM-DD`. */
export function zonedDate(instant: Date, timeZone: string): string {
  const format = { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' } as const;
  const parts = new Intl.DateTimeFormat('en-u-ca-iso8601-nu-latn', format).formatToParts(instant);
  const values = Object.fromEntries(parts.map(({ type, value }) => [type, value]));
  return `${String(values.year).padStart(4, '0')}-${values.month}-${values.day}`;
}

/** The time of an instant in an IANA time zone, as `HH:MM`. */
export function zonedTime(instant: Date, timeZone: string): string {
  const format = { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  return new Intl.DateTimeFormat('en-u-nu-latn', format).format(instant);
}
