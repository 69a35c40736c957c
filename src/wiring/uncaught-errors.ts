import type { Logger } from '../application/ports/logger.ts';

/** Logs the first uncaught error and calls `onError`. Later ones, which usually follow from it, are ignored. */
export function onUncaughtError(logger: Logger, onError: () => void): void {
  let isHandled = false;
  const handle = (error: unknown) => {
    if (isHandled) return;
    isHandled = true;
    logger.error(`internal error: ${String(error)}`);
    onError();
  };
  process.on('uncaughtException', handle);
  process.on('unhandledRejection', handle);
}
