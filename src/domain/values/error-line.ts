import { cleanText, MAX_EXAMINED } from './clean-text.ts';

const MAX_LENGTH = 300;

/** `at f (file:1:2)` and what follows, also in a text that is JSON. */
const STACK = /(?:\s|\\n){1,20}at (?:async )?(?:[^\s()]+ )?(?:\[as \w+\] )?\(?[^\s()]+:\d+:\d+\)?.*$/;
const TRACEBACK = /^Traceback \(most recent call last\)/;

const QUOTED_PATH = /(['"`])(?:file:\/\/|[A-Za-z]:|~)?[\\/](?:(?!\1).)+\1/g;
const FILE_URI = /file:\/{1,3}[^\s'"`<>()[\]]+/gi;
/** One part of a path; it may contain spaces if another part follows. */
const PART = `[^\\s\\\\/:*?"'\`<>|()[\\]{},;]+`;
const STEP = `(?:/|\\\\{1,4})(?:${PART}(?: (?!~)${PART}){0,3}(?=[\\\\/])|${PART})`;
/** Absolute paths. A slash after a word belongs to a URL, a date or a phrase. */
const PATH = new RegExp(`(?<![\\p{L}\\p{N}_/])(?:(?:[A-Za-z]:|~)(?:${STEP})+|(?:${STEP}){2,})`, 'gu');

/** The essential line of an error message, of at most 300 characters, without path and stack trace (ruling L12). */
export function toErrorLine(message: string): string {
  const lines = oneLinePerLine(message);
  const [first = '', ...others] = lines;
  // Python puts the error last.
  const line = TRACEBACK.test(first) ? (others.at(-1) ?? '') : first;
  return clip(
    line.replace(STACK, '').replace(FILE_URI, '<path>').replace(QUOTED_PATH, '$1<path>$1').replace(PATH, '<path>'),
  );
}

/** The first line of a message of this program, of at most 300 characters. It may name JSON pointers, which look like paths. */
export function toProblemLine(message: string): string {
  return clip(oneLinePerLine(message)[0] ?? '');
}

function oneLinePerLine(message: string): readonly string[] {
  return cleanText(message.slice(0, MAX_EXAMINED))
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

function clip(line: string): string {
  return line.slice(0, MAX_LENGTH).toWellFormed();
}
