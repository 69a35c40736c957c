import { expect, test } from 'vitest';
import { nearestName } from '../../../../src/adapters/inbound/nearest-name.ts';

const TOOLS = ['echo', 'get-sum', 'get-env', 'answer', 'answer_quick', 'answer_detailed'];

test.each([
  ['get_sum', 'get-sum'],
  ['GET-SUM', 'get-sum'],
  ['ehco', 'echo'],
  ['quick', 'answer_quick'],
  ['answers', 'answer'],
  ['none', undefined],
  // As near as `ehco`, but another word.
  ['epic', undefined],
  // Several names contain it.
  ['get', undefined],
  ['', undefined],
])('%j: %s', (text, name) => {
  expect(nearestName(text, TOOLS)).toBe(name);
});

test('nothing is near a text of a caller that is longer than every name, and nothing is compared with it', () => {
  expect(nearestName('x'.repeat(100_000), TOOLS)).toBe(undefined);
  expect(nearestName('a', ['a'.repeat(100_000)])).toBe(undefined);
});
