import type { Logger } from './application/ports/logger.ts';

/**
 * Calls `onFault` for the first fault of our own code that nobody caught, and says it in the log; those that follow from it
 * are not heard.
 */
export function watchFaults(logger: Logger, onFault: () => void): void {
  let isKnown = false;
  const take = (fault: unknown) => {
    if (isKnown) return;
    isKnown = true;
    logger.error(`a fault of this program: ${String(fault)}`);
    onFault();
  };
  process.on('uncaughtException', take);
  process.on('unhandledRejection', take);
}
