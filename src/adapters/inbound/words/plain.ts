import { clip } from '../../../domain/values/clean-text.ts';

const MAX_LENGTH = 80;

/** The start of a text that a message repeats, so that messages that a client does not read cannot fill the memory. */
export function excerpt(text: string): string {
  return clip(text, MAX_LENGTH);
}

/** A duration for people: `20 ms`, `1.5 s`, `90 s`, `1 h`. */
export function duration(ms: number): string {
  if (ms < 100) return `${Math.ceil(ms)} ms`;
  if (ms >= 3_600_000) return `${Math.round(ms / 360_000) / 10} h`;
  return `${Math.round(ms / 100) / 10} s`;
}

/** The time since something, for people: `90 s`, `25 min`, `3 h`, `2 days`. */
export function age(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 2) return duration(ms);
  if (minutes < 120) return `${minutes} min`;
  return minutes < 2880 ? `${Math.round(minutes / 60)} h` : `${Math.round(minutes / 1440)} days`;
}

/** A number with its noun: `1 tool`, `2 tools`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

/** The messages for calls whose line cannot be written to the audit file: the call was not made, or its result is withheld. */
export const NO_AUDIT = {
  audit_unavailable:
    'AUDIT_UNAVAILABLE: The call was not made, because it cannot be recorded. Try again later; an operator must check why the audit file cannot be written.',
  unrecorded:
    'CALL_UNRECORDED: The call was made, and its result is withheld, because it cannot be recorded. Do not repeat it: what it did would be done twice. An operator must check why the audit file cannot be written.',
};

/** The message for a call that the end of the process cut off, unless its tool only reads. */
export const INTERRUPTED =
  'The server is shutting down, and the call was ended. It may have had effects: check that before you repeat it.';

/** Micro-dollars as an amount with so many digits after the point, or with six if it would be 0. */
export function dollars(microUsd: number, digits = 2): string {
  const usd = microUsd / 1_000_000;
  return `$${usd.toFixed(microUsd > 0 && usd < 0.5 / 10 ** digits ? 6 : digits)}`;
}
