// What the soak scripts share: the command line, random numbers, and the comparison of the start with the end.
const [first, second] = process.argv.slice(2);

/** `answers`, or the other that is named. */
export const kind = ['gateway', 'attack', 'long-answers'].includes(first) ? first : 'answers';
export const minutes = Number((kind === 'answers' ? first : second) ?? 10);

/** The same random numbers in each run, from 0 to 1 (mulberry32). */
export function seeded(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The medians of the second and the last quarter of figures; the first is for warming up. Undefined for too few. */
export function beforeAndAfter(figures) {
  const quarter = Math.floor(figures.length / 4);
  return quarter === 0 ? undefined : [figures.slice(quarter, 2 * quarter), figures.slice(-quarter)].map(median);
}

function median(values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
}
