import fc from 'fast-check';
import { expect, test } from 'vitest';
import { answerParts, type Part } from '../../../../../../src/adapters/inbound/http/page/markdown.ts';

/** Parts as HTML, in which texts are marked by quotes. */
function shown(parts: readonly Part[]): string {
  return parts
    .map((part) => {
      if (typeof part === 'string') return `"${part}"`;
      const attributes = [part.href && ` href=${part.href}`, part.start && ` start=${part.start}`];
      return `<${part.tag}${attributes.filter(Boolean).join('')}>${shown(part.parts)}</${part.tag}>`;
    })
    .join('')
    .replaceAll('""', '');
}

const A = 'https://a.example/';

test.each([
  ['## A **title**', '<h3>"A "<strong>"title"</strong></h3>'],
  ['two\nlines', '<p>"two\nlines"</p>'],
  ['*an* `x <b>` and a lone ` tick', '<p><em>"an"</em>" "<code>"x <b>"</code>" and a lone ` tick"</p>'],
  ['5 * 6 - 7, 2*3*4, ~5~10, \\*no\\*', '<p>"5 * 6 - 7, 2*3*4, ~5~10, *no*"</p>'],
  ['- one\n  - inner\n- two', '<ul><li>"one"<ul><li>"inner"</li></ul></li><li>"two"</li></ul>'],
  ['3. three\n4. four', '<ol start=3><li>"three"</li><li>"four"</li></ol>'],
  ['- [x] done', '<ul><li>"[x] done"</li></ul>'],
  ['- a\n\n- b', '<ul><li><p>"a"</p></li><li><p>"b"</p></li></ul>'],
  ['```js\n- **no** list\n```', '<pre>"- **no** list"</pre>'],
  ['> said\n\n---', '<blockquote><p>"said"</p></blockquote><hr></hr>'],
  [
    '| a | b |\n|---|---|\n| 1 | *2* |',
    '<table><tr><th>"a"</th><th>"b"</th></tr><tr><td>"1"</td><td><em>"2"</em></td></tr></table>',
  ],
])('%j has the parts %s', (markdown, expected) => {
  expect(shown(answerParts(markdown))).toBe(expected);
});

test.each([
  ['see https://a.example/b_(c).', '<p>"see "<a href=https://a.example/b_(c)>"https://a.example/b_(c)"</a>"."</p>'],
  [`[a.example](${A})`, `<p><a href=${A}>"a.example"</a></p>`],
  ['[a.example](https://www.a.example/x)', '<p><a href=https://www.a.example/x>"a.example"</a></p>'],
  [`[a *page*](${A})`, `<p>"a "<em>"page"</em>" ("<a href=${A}>"${A}"</a>")"</p>`],
  [`[bank.example](${A})`, `<p>"bank.example ("<a href=${A}>"${A}"</a>")"</p>`],
  ['https://bank.example:secret@a.example/', `<p><a href=${A}>"${A}"</a></p>`],
  [`![a picture](${A})`, `<p>"a picture ("<a href=${A}>"${A}"</a>")"</p>`],
  ['[x](javascript:alert(1)) <mailto:a@b.example>', '<p>"[x](javascript:alert(1)) <mailto:a@b.example>"</p>'],
])('the link in %j shows where it leads', (markdown, expected) => {
  expect(shown(answerParts(markdown))).toBe(expected);
});

test.each(['<img src=x onerror=y>', '<script>alert(1)</script>', '<div>\n<b>x</b>\n</div>'])('%s is text', (html) => {
  expect(shown(answerParts(html))).toBe(`<p>"${html}"</p>`);
});

const SYNTAX = [
  '**',
  '*',
  '_',
  '`',
  '[',
  ']',
  '(',
  ')',
  '<',
  '>',
  'https://a.example/',
  'javascript:x',
  '\n',
  '- ',
  '|',
];

test('whatever an answer contains, its links lead to web pages', () => {
  const linksIn = (parts: readonly Part[]): readonly (string | undefined)[] =>
    parts.flatMap((part) => (typeof part === 'string' ? [] : [part.href, ...linksIn(part.parts)]));
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...SYNTAX, 'word', ' ', '```', '#', '@')), (parts) => {
      const links = linksIn(answerParts(parts.join(''))).filter((href) => href !== undefined);
      expect(links.filter((href) => !/^https?:\/\//.test(href))).toEqual([]);
    }),
  );
});
