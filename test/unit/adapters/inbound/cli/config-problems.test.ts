import { expect, test } from 'vitest';
import { wordsForProblems } from '../../../../../src/adapters/inbound/cli/config-problems.ts';

test('one problem is one line', () => {
  expect(wordsForProblems([{ where: 'MAX_CITATIONS', value: '11', accepted: 'a whole number from 1 to 10' }])).toBe(
    'The configuration has a problem:\n  MAX_CITATIONS: got "11", expected a whole number from 1 to 10\n',
  );
});

test('every problem is one line, even if its value has two', () => {
  const problems = [
    { where: 'a', value: 'x\ny', accepted: 'b' },
    { where: 'serach', accepted: 'no such key; the nearest is search' },
  ];
  expect(wordsForProblems(problems)).toBe(
    'The configuration has 2 problems:\n  a: got "x\\ny", expected b\n  serach: expected no such key; the nearest is search\n',
  );
});
