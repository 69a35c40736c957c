import { expect, test } from 'vitest';
import { closeFence, fenceAfter } from '../../../../src/domain/values/code-fence.ts';

test.each([
  ['prose', 'Sunny.', 'Sunny.'],
  ['a complete block', '```js\nlet x;\n```', '```js\nlet x;\n```'],
  ['a block that was cut', 'See:\n```js\nlet x', 'See:\n```js\nlet x\n```'],
  ['a long fence around a short one', '````\n```\nx', '````\n```\nx\n````'],
  ['tildes', '~~~\nx', '~~~\nx\n~~~'],
])('%s ends outside of code', (_, text, closed) => {
  expect(closeFence(text)).toBe(closed);
});

test('a fence ends only with the same marks, alone on a line', () => {
  expect(fenceAfter('~~~', '```')).toBe('```');
  expect(fenceAfter('```js', '```')).toBe('```');
  expect(fenceAfter('`````', '```')).toBe('');
});
