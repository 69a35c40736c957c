import { expect, test } from 'vitest';
import { inTurns, parseInTurns } from '../../../../../src/adapters/outbound/mcp-client/in-turns.ts';
import { countTurns } from '../../../../support/count-turns.ts';

/** How many items are handled in each turn of the event loop. */
async function itemsPerTurn(items: Iterable<number>): Promise<readonly number[]> {
  const turns = countTurns();
  await inTurns(items, () => turns.countItem());
  return turns.stop().filter((count) => count > 0);
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

const parsed = (chunks: Buffer[]) => new Promise((resolve) => void parseInTurns(chunks, resolve));

test('reads JSON that arrived in parts', async () => {
  const json = Buffer.from('{"a":"Zürich 🚀"}');
  expect(await parsed([json.subarray(0, 8), json.subarray(8)])).toEqual({ a: 'Zürich 🚀' });
  expect(await parsed([Buffer.from('{"a"')])).toBeUndefined();
});

test.each([
  ['a small text at once', 100, 1],
  ['a large text in four turns: to join, to decode, to parse, and to use it', 300_000, 4],
])('reads %s', async (_, length, expected) => {
  const turns = countTurns();
  expect(await parsed([Buffer.from('"'), Buffer.from(`${'x'.repeat(length)}"`)])).toHaveLength(length);
  expect(turns.stop()).toHaveLength(expected);
});
