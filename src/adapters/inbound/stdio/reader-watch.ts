import { fstatSync, writeSync } from 'node:fs';

const LOOK_EVERY_MS = 250;
const STDOUT = 1;

/**
 * Calls `onGone` once nobody can read our answers: standard output is closed, or the process that started us is gone
 * (ruling 13). It may call more than once. `beginMessage` writes what any next message may begin with, and is
 * called at most once: when it seems that a pipe is closed, which only a write can tell for certain.
 */
export function watchReader(onGone: (why: string) => void, beginMessage: () => void): void {
  const parent = process.ppid;
  process.stdout.on('error', () => onGone('standard output is closed'));
  const kind = kindOfStdout();
  const timer = setInterval(() => {
    if (process.ppid !== parent) onGone('the parent process is gone');
    else if (kind === 'socket' && isSocketClosed()) onGone('standard output is closed');
  }, LOOK_EVERY_MS);
  timer.unref();
  if (kind === 'pipe') void watchPipe(beginMessage);
}

/** Looks until it sees nobody. Where it never sees anybody it cannot tell, and a closed pipe shows with the next answer. */
async function watchPipe(beginMessage: () => void): Promise<void> {
  const { PipeReader } = await import('./pipe-reader.ts');
  const reader = new PipeReader(STDOUT);
  let wasSeen = false;
  const look = async () => {
    const isSeen = await reader.isSeen();
    if (isSeen) setTimeout(look, LOOK_EVERY_MS).unref();
    else if (wasSeen) beginMessage();
    wasSeen = isSeen;
  };
  await look();
}

function kindOfStdout(): 'socket' | 'pipe' | 'other' {
  try {
    const stdout = fstatSync(STDOUT);
    if (stdout.isSocket()) return 'socket';
    return stdout.isFIFO() ? 'pipe' : 'other';
  } catch {
    return 'other';
  }
}

/** Node gives its children sockets; a closed one shows even to an empty write. */
function isSocketClosed(): boolean {
  try {
    writeSync(STDOUT, '');
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPIPE';
  }
}
