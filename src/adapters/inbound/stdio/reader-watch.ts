import { fstatSync, writeSync } from 'node:fs';

const LOOK_EVERY_MS = 250;
const STDOUT = 1;

/**
 * Calls `onGone` once nobody can read our answers: standard output is closed, or the process that started us is gone
 * (ruling 13). It may call more than once.
 */
export function watchReader(onGone: (why: string) => void): void {
  const parent = process.ppid;
  const isSocket = isStdoutSocket();
  const onError = () => onGone('standard output is closed');
  process.stdout.on('error', onError);
  const timer = setInterval(() => {
    if (process.ppid !== parent) onGone('the parent process is gone');
    else if (isSocket && isStdoutClosed()) onGone('standard output is closed');
  }, LOOK_EVERY_MS);
  timer.unref();
}

/** Node gives its children sockets; a closed one shows even to an empty write, a closed pipe only to the next answer. */
function isStdoutSocket(): boolean {
  try {
    return fstatSync(STDOUT).isSocket();
  } catch {
    return false;
  }
}

function isStdoutClosed(): boolean {
  try {
    writeSync(STDOUT, '');
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPIPE';
  }
}
