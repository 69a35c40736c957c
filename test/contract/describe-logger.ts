import { expect, test } from 'vitest';
import type { Logger } from '../../src/application/ports/services.ts';

export interface StartedLogger {
  readonly logger: Logger;
  /** Everything that was logged. */
  readonly logged: () => string;
}

/** What every Logger promises (see the port). */
export function describeLogger(name: string, start: (isDebug: boolean) => StartedLogger): void {
  test.each([
    [true, ['one', 'two', 'three', 'four']],
    [false, ['two', 'three', 'four']],
  ])(`${name} as a Logger logs in order; with debug %s: %j`, (isDebug, lines) => {
    const { logger, logged } = start(isDebug);
    expect(logger.isDebug).toBe(isDebug);
    logger.debug('one');
    logger.warn('two');
    logger.error('three');
    logger.warn('four');
    expect(logged().match(/one|two|three|four/g)).toEqual(lines);
  });
}
