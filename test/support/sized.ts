const IS_FULL = process.env.TEST_SIZE === 'full';

/** How much a test does: `usual` finds what has been seen to break; TEST_SIZE=full does more. */
export function sized<T>(usual: T, full: T): T {
  return IS_FULL ? full : usual;
}

/** The runs of a law: a fifth of `full`, or all with TEST_SIZE=full. */
export function runs(full: number): number {
  return sized(Math.ceil(full / 5), full);
}
