import { withoutMarks } from './citation-marks.ts';

const TRACKING = 'utm_source=openai';

const URL_IN_TEXT = /https?:\/\/[^\s<>"`]+/gi;

/**
 * Text from the web, safe to display: without characters that hide or reorder text or control a terminal, without
 * the marks around citations and names, and without `utm_source=openai` in URLs. Line ends are `\n`; lone surrogates are replaced.
 */
export function cleanText(text: string): string {
  const safe = withoutUnsafeCharacters(text.replace(/\r\n?|[\u2028\u2029]/g, '\n'));
  return withoutMarks(safe).replace(URL_IN_TEXT, withoutTracking);
}

/** Like `cleanText`, for a text that must stay on one line, such as a title. */
export function cleanLine(text: string): string {
  return cleanText(text).replace(/\s+/g, ' ').trim();
}

/** A URL, or text that begins with one, without the `utm_source=openai` that the API appends. */
export function withoutTracking(url: string): string {
  if (!url.includes(TRACKING)) return url;
  return url
    .replace(/\?(?:utm_source=openai&(?:amp;)?)+/g, '?')
    .replace(/(?:\?|&(?:amp;)?)utm_source=openai(?![\w~%+-]|\.\w)/g, '');
}

/** Control characters, characters that reorder text, and tag characters, which a model reads but a person does not see. */
const UNSAFE_CHARACTERS =
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\uFFF9-\uFFFB\u{E0000}-\u{E007F}]/gu;

/** Escape sequences for colors, cursor movements and titles. Removing only the escape character would leave their parameters in the text. */
const TERMINAL_SEQUENCES =
  /(?:\u001B\[|\u009B)[0-?]*[ -/]*[@-~]|\u001B\][^\u0007\u001B\u009C\n]*(?:\u0007|\u001B\\|\u009C)/g;

/** A text without characters that hide or reorder text or control a terminal, and without lone surrogates. */
export function withoutUnsafeCharacters(text: string): string {
  return text.toWellFormed().replace(TERMINAL_SEQUENCES, '').replace(UNSAFE_CHARACTERS, '');
}

/** A text of at most `max` UTF-16 code units; `…` shows that the rest is missing. */
export function clip(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** Maximum number of characters that are examined of a text from outside, which may have any length. */
export const MAX_EXAMINED = 10_000;

/** A text from outside as one line of at most `max` UTF-16 code units. */
export function shortLine(text: string, max: number): string {
  return clip(cleanLine(text.slice(0, MAX_EXAMINED)), max);
}

/** A text without these characters at its end. A loop, because a pattern for the end of a text tries each character of a run as its beginning. */
export function withoutEnd(text: string, characters: RegExp): string {
  let end = text.length;
  while (end > 0 && characters.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

const MAX_LENGTH = 300;

/** Matches a stack trace: `at f (file:1:2)` and everything after it, also within JSON. */
const STACK = /(?:\s|\\n){1,20}at (?:async )?(?:[^\s()]+ )?(?:\[as \w+\] )?\(?[^\s()]+:\d+:\d+\)?.*$/;
const TRACEBACK = /^Traceback \(most recent call last\)/;

/**
 * The essential line of a server's error message, of at most 300 characters, without its stack trace. Paths are kept, so that a caller sees
 * which file is missing.
 */
export function toErrorLine(message: string): string {
  const lines = cleanText(message.slice(0, MAX_EXAMINED)).split('\n');
  const [first = '', ...others] = lines.map((line) => line.trim()).filter((line) => line !== '');
  // Python puts the error last.
  const line = TRACEBACK.test(first) ? (others.at(-1) ?? '') : first;
  return clip(line.replace(STACK, ''), MAX_LENGTH);
}
