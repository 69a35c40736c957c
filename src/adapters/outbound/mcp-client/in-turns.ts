import { setImmediate as nextTurn } from 'node:timers/promises';
import { parseJson } from '../../../domain/values/json.ts';

/** How much is handled in one turn of the event loop: to check so many messages takes a few milliseconds. */
const MAX_ITEMS = 50;
/** To read more bytes takes milliseconds. */
const MAX_BYTES = 256 * 1024;

/** Handles what one server has sent in many turns of the event loop, so that a flood delays all else only by a turn at a time. */
export async function inTurns<T>(items: Iterable<T>, handle: (item: T) => void | Promise<void>): Promise<void> {
  let handled = 0;
  for (const item of items) {
    await handle(item);
    handled += 1;
    if (handled < MAX_ITEMS) continue;
    await nextTurn();
    handled = 0;
  }
}

/** The value of a JSON text; undefined if it is not JSON. A large one takes a turn to join, to decode, to parse, and to use. */
export async function parsedInTurns(chunks: readonly Uint8Array[]): Promise<unknown> {
  const bytes = Buffer.concat(chunks);
  if (bytes.length <= MAX_BYTES) return parseJson(bytes.toString());
  await nextTurn();
  const text = bytes.toString();
  await nextTurn();
  const value = parseJson(text);
  await nextTurn();
  return value;
}
