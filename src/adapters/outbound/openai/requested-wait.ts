/** The places in which a server can say how long to wait. */
interface WaitPlaces {
  readonly headers: Headers | undefined;
  /** Headers and members of the body by their names in lower case, such as `retry_after`. */
  readonly members: ReadonlyMap<string, unknown>;
  readonly message: string;
  /** Whether a limit of requests or tokens was reached: only then, the headers about limits say something about the wait. */
  readonly isLimited: boolean;
  readonly now: Date;
}

/** The requested wait in milliseconds, from the most specific place that has one. */
export function requestedWaitMs({ headers, members, message, isLimited, now }: WaitPlaces): number | undefined {
  const named = (name: string) => headers?.get(name) ?? members.get(name);
  const inMs = IN_MS.map((name) => Number.parseFloat(String(named(name) ?? '')));
  const asked = [...inMs, ...IN_SECONDS.map((name) => toWaitMs(named(name), now)), waitInWords(message, now)];
  const wait = asked.find((ms) => ms !== undefined && ms > 0);
  return wait ?? (isLimited ? waitForLimits(headers, members, now) : undefined);
}

const IN_MS = ['retry-after-ms', 'x-ms-retry-after-ms', 'retry_after_ms'];
const IN_SECONDS = [
  'retry-after',
  'retry_after',
  'retryafter',
  'retry_after_seconds',
  'retrydelay',
  'resets_in_seconds',
  'resets_at',
  'reset_at',
];

/** The wait until the limits that were reached are lifted or, if none is named as reached, until the first one is. */
function waitForLimits(headers: Headers | undefined, members: WaitPlaces['members'], now: Date): number | undefined {
  const places = new Map<string, unknown>([...members, ...(headers ?? [])]);
  const limits = [...places].flatMap(([name, value]) => {
    const ms = /^(?:x-)?rate-?limit-reset\b/.test(name) ? toWaitMs(value, now) : undefined;
    if (ms === undefined || ms <= 0) return [];
    const remaining = places.get(name.replace('reset', 'remaining'));
    return [{ ms, isReached: remaining === undefined || Number(remaining) <= 0 }];
  });
  const reached = limits.filter(({ isReached }) => isReached).map(({ ms }) => ms);
  if (reached.length > 0) return Math.max(...reached);
  return limits.length > 0 ? Math.min(...limits.map(({ ms }) => ms)) : undefined;
}

/** Numbers from here on are seconds since 1970, and a thousand times that, milliseconds: no server asks to wait for 30 years. */
const EPOCH = 1e9;

/** A wait as seconds (`7`, `0.25`), as a duration (`1m13.5s`, `120ms`), or until a time (a date, seconds or milliseconds since 1970). */
function toWaitMs(value: unknown, now: Date): number | undefined {
  const text = String(value ?? '').trim();
  if (text === '') return undefined;
  const number = Number(text);
  if (Number.isNaN(number)) return durationMs(text) ?? untilMs(text, now);
  if (number < EPOCH) return number * 1000;
  return (number < EPOCH * 1000 ? number * 1000 : number) - now.getTime();
}

function untilMs(date: string, now: Date): number | undefined {
  const ms = Date.parse(date) - now.getTime();
  return Number.isNaN(ms) ? undefined : ms;
}

const UNITS: readonly (readonly [RegExp, number])[] = [
  [/^(?:ms|msecs?|milliseconds?)$/i, 1],
  [/^(?:s|secs?|seconds?)$/i, 1000],
  [/^(?:m|mins?|minutes?)$/i, 60_000],
  [/^(?:h|hrs?|hours?)$/i, 3_600_000],
  [/^(?:d|days?)$/i, 86_400_000],
];
const AMOUNT = /^(\d{1,12}(?:\.\d{1,12})?) ?([a-z]{1,12})(?![a-z])(?:\(s\))?(?:, | and |, and | )?/i;

/** The milliseconds of a duration at the beginning of a text: `5s`, `1m13.5s`, `1 minute and 20 seconds`. */
function durationMs(text: string): number | undefined {
  let rest = text;
  let ms: number | undefined;
  for (let match = amountIn(rest); match !== undefined; match = amountIn(rest)) {
    ms = (ms ?? 0) + match.ms;
    rest = rest.slice(match.length);
  }
  return ms;
}

function amountIn(text: string): { readonly ms: number; readonly length: number } | undefined {
  const [all = '', amount, unit = ''] = AMOUNT.exec(text) ?? [];
  const factor = UNITS.find(([pattern]) => pattern.test(unit))?.[1];
  return factor === undefined ? undefined : { ms: Number(amount) * factor, length: all.length };
}

/** Words before a wait or a time, and the first digit after them. */
const ADVICE =
  /\b(?:again|retry|retry[- ]?after|retrying|wait|waiting|resets?|reset after|available)\b[^\d.;!?]{0,40}(?=\d)/gi;
const TIME = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?) ?([+-]\d\d:?\d\d)?/;
/** A number without a unit counts as seconds only after the name of the header. */
const UNITLESS = /^\d{1,9}(?:\.\d{1,9})?(?![\w.]|\s+[a-z])/i;

/** The wait in a message, such as "Please try again in 1.2s", "retry after 5 seconds" or "resets at 2026-11-28 22:00:00". */
function waitInWords(message: string, now: Date): number | undefined {
  for (const { 0: advice, index } of message.matchAll(ADVICE)) {
    const rest = message.slice(index + advice.length);
    const [, day, time, zone = 'Z'] = TIME.exec(rest) ?? [];
    const seconds = /after[\s:="']{1,4}$/i.test(advice) ? UNITLESS.exec(rest)?.[0] : undefined;
    const ms = day === undefined ? durationMs(rest) : untilMs(`${day}T${time}${zone}`, now);
    const wait = ms ?? (seconds === undefined ? undefined : Number(seconds) * 1000);
    if (wait !== undefined && wait > 0) return wait;
  }
  return undefined;
}
