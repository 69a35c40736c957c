import { expect, test } from 'vitest';
import { messageForProblems } from '../../../../../src/adapters/inbound/words/process-messages.ts';

test('one problem is one line', () => {
  expect(
    messageForProblems([{ where: 'MAX_CITATIONS', value: '11', message: 'expected an integer from 1 to 10' }]),
  ).toBe('The configuration has a problem:\n  MAX_CITATIONS: got "11", expected an integer from 1 to 10\n');
});

test('every problem is one line, even if its value has two', () => {
  const problems = [
    { where: 'a', value: 'x\ny', message: 'expected b', file: '/home/me/config.yaml' },
    { where: 'serach', message: 'unknown key; did you mean search?' },
  ];
  expect(messageForProblems(problems)).toBe(
    'The configuration has 2 problems:\n  a: got "x\\ny", expected b (in /home/me/config.yaml)\n  serach: unknown key; did you mean search?\n',
  );
});
