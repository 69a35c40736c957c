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
    const waiting = handle(item);
    if (waiting !== undefined) await waiting;
    handled += 1;
    if (handled < MAX_ITEMS) continue;
    await nextTurn();
    handled = 0;
  }
}

/** Passes on the value of a JSON text; undefined if it is not JSON. To decode, to parse and to use a large one takes a turn each. */
export function parseInTurns(chunks: readonly Buffer[], use: (value: unknown) => void): void | Promise<void> {
  const [first, ...more] = chunks;
  const bytes = first !== undefined && more.length === 0 ? first : Buffer.concat(chunks);
  return bytes.length > MAX_BYTES ? parseLarge(bytes).then(use) : use(parseJson(bytes.toString()));
}

async function parseLarge(bytes: Buffer): Promise<unknown> {
  await nextTurn();
  const text = bytes.toString();
  await nextTurn();
  const value = parseJson(text);
  await nextTurn();
  return value;
}
