import { cleanText, clip, MAX_EXAMINED } from './clean-text.ts';

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
