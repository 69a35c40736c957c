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

/** A number with its noun: `1 tool`, `2 tools`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

/** The message for every call that fails because its line cannot be written to the audit file. */
export const NO_AUDIT =
  'AUDIT_UNAVAILABLE: The call cannot be recorded, so it was not made or its result is withheld. Try again later; an operator must check why the audit file cannot be written.';
