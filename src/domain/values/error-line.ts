import { cleanText, clip, MAX_EXAMINED } from './clean-text.ts';

const MAX_LENGTH = 300;

/** `at f (file:1:2)` and what follows, also in a text that is JSON. */
const STACK = /(?:\s|\\n){1,20}at (?:async )?(?:[^\s()]+ )?(?:\[as \w+\] )?\(?[^\s()]+:\d+:\d+\)?.*$/;
const TRACEBACK = /^Traceback \(most recent call last\)/;

/**
 * The essential line of an error message of a server, of at most 300 characters, without its stack trace. Its paths are kept: who asks
 * for a file must see which one is missing.
 */
export function toErrorLine(message: string): string {
  const lines = cleanText(message.slice(0, MAX_EXAMINED)).split('\n');
  const [first = '', ...others] = lines.map((line) => line.trim()).filter((line) => line !== '');
  // Python puts the error last.
  const line = TRACEBACK.test(first) ? (others.at(-1) ?? '') : first;
  return clip(line.replace(STACK, ''), MAX_LENGTH);
}
