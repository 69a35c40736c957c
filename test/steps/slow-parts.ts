import { stepsOf } from '../support/steps/count-steps.ts';

/** Parts of texts that were written to be read slowly: runs, openings without ends, nested marks, and beginnings of what a pattern looks for. */
const PARTS: readonly string[] = [
  ...['a', ' ', '\n', '!', '[', '`', '"', '1', '> ', 'あ', '「'],
  ...['?(', '[[a]', '![a](', '[1] ', '[x](http://a.b) 5. ', '*a_', '。（', '出典', '1. '],
  ...['http://a', 'http://a.b/(', 'http://a!', '://a@', 'a.a/', '\nSources:\n- http://a.b\n'],
  ...['<a href="', '<pre>', '<!--', '1,', '千', '1 may '],
  ...['Bearer a', '\uE200cite\uE202a', '\uE0001\uE001', '\uE002a', '\u001B]', '{"id":1,', '😀'],
];

const SHORT = 4000;
/** More steps for each character than any function needs. */
const MOST = 1500;

/** A text of this length, which ends with what no part has. */
function hostile(part: string, length: number): string {
  return `${part.repeat(Math.ceil(length / part.length)).slice(0, length - 1)}ア`;
}

/** The parts of which a text takes clearly more than four times the steps of one of a quarter of its length. */
export function slowParts(read: (text: string) => unknown, short = SHORT): readonly string[] {
  const long = 4 * short;
  return PARTS.filter((part) => {
    const few = stepsOf(() => read(hostile(part, short)), short * MOST);
    const most = Math.min(long * MOST, 5 * few + long);
    return few >= short * MOST || stepsOf(() => read(hostile(part, long)), most) >= most;
  });
}
