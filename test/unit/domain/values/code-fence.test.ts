import { expect, test } from 'vitest';
import { closeFence, fencedLines } from '../../../../src/domain/values/code-fence.ts';

test.each([
  ['prose', 'Sunny.', 'Sunny.'],
  ['a complete block', '```js\nlet x;\n```', '```js\nlet x;\n```'],
  ['a block that was cut', 'See:\n```js\nlet x', 'See:\n```js\nlet x\n```'],
  ['a long fence around a short one', '````\n```\nx', '````\n```\nx\n````'],
  ['code in a line', '```npm install``` installs it.', '```npm install``` installs it.'],
  ['tildes before backticks', '~~~ a`b`\nx', '~~~ a`b`\nx\n~~~'],
  ['a quotation', '> ```\n> x', '> ```\n> x\n> ```'],
  ['a block after which a quotation ends', '> ```\n> x\ny', '> ```\n> x\ny'],
  ['an item', '1. Run:\n   ```\n   x', '1. Run:\n   ```\n   x\n   ```'],
  ['a fence beside the mark of an item', '- ```\n  x', '- ```\n  x\n  ```'],
  ['a block after which an item ends', '- Run:\n  ```\n  x\n\ny', '- Run:\n  ```\n  x\n\ny'],
  ['a nested item', '- a\n  - b\n    ```\n    x', '- a\n  - b\n    ```\n    x\n    ```'],
  ['code with less indentation', '  ```\nx', '  ```\nx\n```'],
  ['code that is indented', 'See:\n\n    ```\n    x', 'See:\n\n    ```\n    x'],
  ['tildes', '~~~\nx', '~~~\nx\n~~~'],
])('%s ends outside of code', (_, text, closed) => {
  expect(closeFence(text)).toBe(closed);
});

test.each([
  ['other marks', '~~~'],
  ['a language', '```js'],
  ['fewer marks', '``'],
  ['an indentation of four', '    ```'],
])('%s close no block', (_, line) => {
  expect(fencedLines(['```', line, 'x', '````', 'y']).isCode).toEqual([true, true, true, true, false]);
});
