import { fstatSync, writeSync } from 'node:fs';
import type { Clock } from '../../../application/ports/clock.ts';

const LOOK_EVERY_MS = 250;
const [STDIN, STDOUT] = [0, 1];

/**
 * Calls `onGone` once nobody can read our answers: standard output is closed, or the process that started us is gone
 * (ruling 13). It may call more than once.
 *
 * `beginMessage` writes what any next message may begin with, if it is known what that is, and tells whether it did. It
 * is called when it seems that nobody reads a pipe, which only a write can tell for certain.
 */
export function watchReader(onGone: (why: string) => void, beginMessage: () => boolean, clock: Clock): void {
  const parent = process.ppid;
  process.stdout.on('error', () => onGone('standard output is closed'));
  const kind = kindOf(STDOUT);
  const timer = setInterval(() => {
    if (process.ppid !== parent) onGone('the parent process is gone');
    else if (kind === 'socket' && isSocketClosed()) onGone('standard output is closed');
  }, LOOK_EVERY_MS);
  timer.unref();
  if (kind === 'pipe') void watchStdout(beginMessage, clock);
}

async function watchStdout(beginMessage: () => boolean, clock: Clock): Promise<void> {
  const [{ isParentSeen, PipePeer }, { watchPipe }] = await Promise.all([
    import('./pipe-peer.ts'),
    import('./pipe-watch.ts'),
  ]);
  const reader = new PipePeer(STDOUT, 'reads');
  const writer = new PipePeer(STDIN, 'writes');
  const peers = {
    isReaderSeen: () => reader.isSeen(),
    // Who writes to us where we cannot look most likely reads us there.
    areReadersVisible: async () =>
      isParentSeen() && (process.stdin.readableEnded || kindOf(STDIN) !== 'pipe' || (await writer.isSeen())),
  };
  await watchPipe(peers, beginMessage, LOOK_EVERY_MS, clock);
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
