import type { Logger } from '../application/ports/logger.ts';

/** Calls `stop` when the terminal is closed, which sends SIGHUP. The process then ends by this signal. */
export function onHangUp(stop: () => void): void {
  process.on('SIGHUP', () => {
    stop();
    process.once('exit', endBySignal);
  });
}

/** Ends the process as SIGHUP does. Node.js itself would try to restore the settings of a closed terminal, fail, and abort. */
function endBySignal(): void {
  process.removeAllListeners('SIGHUP');
  process.kill(process.pid, 'SIGHUP');
}

/** Logs the first uncaught error and calls `onError`. Ignores later errors, which usually follow from the first. */
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
