import { expect, test } from 'vitest';
import { isToolName, TOOL_NAMES } from '../../../../src/domain/answers/question.ts';

test('there are three tools', () => {
  expect(TOOL_NAMES).toEqual(['answer', 'answer_detailed', 'answer_quick']);
  expect(TOOL_NAMES.every(isToolName)).toBe(true);
});

test.each(['Answer', 'answer ', '', 'toString', undefined, null, 0])('%j is not a tool', (name) => {
  expect(isToolName(name)).toBe(false);
});
