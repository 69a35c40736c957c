import { fstatSync, writeSync } from 'node:fs';

const CHECK_EVERY_MS = 250;
const STDOUT = 1;

/** Reserves standard output for MCP. Everything else that is written there goes to standard error. */
export function claimStdout() {
  const write = process.stdout.write.bind(process.stdout);
  // Standard error is opened on first use: opening it takes a millisecond of startup.
  process.stdout.write = ((...args: Parameters<typeof write>) =>
    process.stderr.write(...args)) as typeof process.stdout.write;
  return {
    write: (text: string) => void write(text),
    /** Resolves when everything written has left the process; never, if nothing reads it. */
    flushed: () => new Promise<void>((resolve) => write('', () => resolve())),
  };
}

/**
 * Calls `onGone`, maybe more than once, when nothing can read standard output any more: a write failed, or, after the end of the input, the socket
 * was closed or the parent process is gone. These two are not checked earlier, because a client that exits closes the input first. A pipe that its
 * reader closed is detected by the next write.
 */
export function onReaderGone(onGone: (reason: string) => void): void {
  const parent = process.ppid;
  process.stdout.on('error', () => onGone('standard output is closed'));
  const check = () => {
    if (process.ppid !== parent) onGone('the parent process is gone');
    else if (isSocketClosed()) onGone('standard output is closed');
  };
  process.stdin.once('close', () => setInterval(check, CHECK_EVERY_MS).unref());
}

/** Node.js gives its children sockets. An empty write fails if the other end is closed, and writes nothing if it is not. */
function isSocketClosed(): boolean {
  try {
    if (fstatSync(STDOUT).isSocket()) writeSync(STDOUT, '');
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPIPE';
  }
}
