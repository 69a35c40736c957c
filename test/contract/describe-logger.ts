import { describe, expect, test } from 'vitest';
import type { Logger } from '../../src/application/ports/logger.ts';

export interface StartedLogger {
  readonly logger: Logger;
  /** Everything that was logged. */
  readonly logged: () => string;
}

/** What every Logger promises (see the port). */
export function describeLogger(name: string, start: (isDebug: boolean) => StartedLogger): void {
  describe(`${name} as a Logger`, () => {
    test.each([true, false])('with debug %s: isDebug reports it', (isDebug) => {
      expect(start(isDebug).logger.isDebug).toBe(isDebug);
    });

    test.each([true, false])('with debug %s: logs warnings and errors, in order', (isDebug) => {
      const { logger, logged } = start(isDebug);
      logger.warn('one');
      logger.error('two');
      logger.warn('three');
      expect(logged().match(/one|two|three/g)).toEqual(['one', 'two', 'three']);
    });

    test.each([true, false])('with debug %s: logs debug lines only with debug', (isDebug) => {
      const { logger, logged } = start(isDebug);
      logger.debug('one');
      expect(logged().includes('one')).toBe(isDebug);
    });
  });
}
