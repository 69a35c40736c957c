import { setImmediate as nextTurn } from 'node:timers/promises';

/** How much is handled in one turn of the event loop: to check so many messages takes a few milliseconds. */
const MAX_ITEMS = 50;

/** Handles what one server has sent in many turns of the event loop, so that a flood delays all else only by a turn at a time. */
export async function inTurns<T>(items: Iterable<T>, handle: (item: T) => void): Promise<void> {
  let handled = 0;
  for (const item of items) {
    handle(item);
    handled += 1;
    if (handled < MAX_ITEMS) continue;
    await nextTurn();
    handled = 0;
  }
}
