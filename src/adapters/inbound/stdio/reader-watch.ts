import { fstatSync, writeSync } from 'node:fs';

const LOOK_EVERY_MS = 250;
const LOOK_SELDOM_MS = 60_000;
const [STDIN, STDOUT] = [0, 1];

/** Between two processes that hand it over nobody holds a pipe: so often in a row it must have no reader. */
const LOOKS_THAT_COUNT = 2;

/**
 * Calls `onGone` once nobody can read our answers: standard output is closed, or the process that started us is gone
 * (ruling 13). It may call more than once.
 *
 * `beginMessage` writes what any next message may begin with, if it is known what that is, and tells whether it did. It
 * is called when it seems that nobody reads a pipe, which only a write can tell for certain.
 */
export function watchReader(onGone: (why: string) => void, beginMessage: () => boolean): void {
  const parent = process.ppid;
  process.stdout.on('error', () => onGone('standard output is closed'));
  const isSocket = kindOf(STDOUT) === 'socket';
  const timer = setInterval(() => {
    if (process.ppid !== parent) onGone('the parent process is gone');
    else if (isSocket && isSocketClosed()) onGone('standard output is closed');
  }, LOOK_EVERY_MS);
  timer.unref();
  if (kindOf(STDOUT) === 'pipe') void watchPipe(beginMessage);
}

/** Asks once when the reader that was seen is gone, or was never seen where it should be. */
async function watchPipe(beginMessage: () => boolean): Promise<void> {
  const { PipePeer, isParentSeen } = await import('./pipe-peer.ts');
  const reader = new PipePeer(STDOUT, 'reads');
  const writer = new PipePeer(STDIN, 'writes');
  /** Who reads us where we cannot look is likely the one who writes to us there. */
  const shouldSee = async () =>
    isParentSeen() && (process.stdin.readableEnded || kindOf(STDIN) !== 'pipe' || (await writer.isSeen()));

  let wasSeen = false;
  let hasAsked = false;
  let unseen = 0;
  const look = async () => {
    if (await reader.isSeen()) {
      wasSeen = true;
      hasAsked = false;
      unseen = 0;
    } else {
      unseen += 1;
    }
    if (unseen >= LOOKS_THAT_COUNT && !hasAsked && (wasSeen || (await shouldSee()))) hasAsked = beginMessage();
    // Each look that finds nobody goes over all processes.
    const slower = 2 ** Math.max(0, unseen - LOOKS_THAT_COUNT);
    setTimeout(look, Math.min(LOOK_EVERY_MS * slower, LOOK_SELDOM_MS)).unref();
  };
  await look();
}

function kindOf(fd: number): 'socket' | 'pipe' | 'other' {
  try {
    const stat = fstatSync(fd);
    if (stat.isSocket()) return 'socket';
    return stat.isFIFO() ? 'pipe' : 'other';
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
