/** The IANA time zone that `clock.time_zone` names; `system` is the zone of this machine. */
export function toZone(zone: string): string {
  return zone === 'system' ? new Intl.DateTimeFormat().resolvedOptions().timeZone : zone;
}
