import { setImmediate as nextTurn } from 'node:timers/promises';

/** How much is handled in one turn of the event loop. What follows from it, such as the check of a message, is not measured. */
const MAX_MS = 10;
const MAX_ITEMS = 50;

/** Handles what one server has sent in many turns of the event loop, so that a flood delays all else only by a turn at a time. */
export async function inTurns<T>(items: Iterable<T>, handle: (item: T) => void): Promise<void> {
  let startMs = performance.now();
  let handled = 0;
  for (const item of items) {
    handle(item);
    handled += 1;
    if (handled < MAX_ITEMS && performance.now() - startMs < MAX_MS) continue;
    await nextTurn();
    startMs = performance.now();
    handled = 0;
  }
}
