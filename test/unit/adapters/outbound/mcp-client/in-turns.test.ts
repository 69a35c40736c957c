import { expect, test } from 'vitest';
import { inTurns } from '../../../../../src/adapters/outbound/mcp-client/in-turns.ts';

/** How many items are handled in each turn of the event loop. */
async function itemsPerTurn(items: Iterable<number>): Promise<readonly number[]> {
  const turns = [0];
  const countTurns = () => {
    turns.push(0);
    counting = setImmediate(countTurns);
  };
  let counting = setImmediate(countTurns);
  await inTurns(items, () => {
    turns.push((turns.pop() ?? 0) + 1);
  });
  clearImmediate(counting);
  return turns.filter((count) => count > 0);
}

function numbers(length: number): readonly number[] {
  return Array.from({ length }, (_, index) => index);
}

test('handles all items, and at most 50 in a turn', async () => {
  const turns = await itemsPerTurn(numbers(1001));
  expect(turns.reduce((sum, count) => sum + count)).toBe(1001);
  expect(Math.max(...turns)).toBeLessThanOrEqual(50);
});

test('handles few items at once', async () => {
  expect(await itemsPerTurn(numbers(20))).toHaveLength(1);
});

test('rejects with what an item throws', async () => {
  const handled: number[] = [];
  const fails = inTurns(numbers(3), (item) => {
    handled.push(item);
    throw new Error('of an item');
  });
  await expect(fails).rejects.toThrow('of an item');
  expect(handled).toEqual([0]);
});
