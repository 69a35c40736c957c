import type { Clock } from '../../../application/ports/clock.ts';

/** The other ends of our pipes. */
export interface Peers {
  /** Whether somebody is seen that may read our standard output. */
  isReaderSeen(): Promise<boolean>;
  /** Whether a reader would be seen if there were one. */
  areReadersVisible(): Promise<boolean>;
}

const LOOK_SELDOM_MS = 60_000;

/** Between two processes that hand it over nobody holds a pipe: so often in a row it must have no reader. */
const LOOKS_THAT_COUNT = 2;

/**
 * Looks every `everyMs` after the reader of a pipe, for as long as the process lives, and asks once when the one that was
 * seen is gone, or none is seen where one would be. `ask` tells whether it could.
 */
export async function watchPipe(peers: Peers, ask: () => boolean, everyMs: number, clock: Clock): Promise<never> {
  let wasSeen = false;
  let hasAsked = false;
  let unseen = 0;
  for (;;) {
    if (await peers.isReaderSeen()) {
      wasSeen = true;
      hasAsked = false;
      unseen = 0;
    } else {
      unseen += 1;
    }
    const mustAsk = unseen >= LOOKS_THAT_COUNT && !hasAsked && (wasSeen || (await peers.areReadersVisible()));
    if (mustAsk) hasAsked = ask();
    // A look that finds nobody has gone over all processes: it becomes seldom, unless there is still something to ask.
    const slower = mustAsk && !hasAsked ? 2 : 2 ** Math.max(0, unseen - LOOKS_THAT_COUNT);
    await clock.sleep(Math.min(everyMs * slower, LOOK_SELDOM_MS), NEVER);
  }
}

const NEVER = new AbortController().signal;
