import fc from 'fast-check';
import { expect, test } from 'vitest';
import { textPieces } from '../../../../src/adapters/outbound/texts/text-pieces.ts';
import { checkedText } from '../../../../src/domain/check/checked-text.ts';

type Form = (url: string) => string;

/** Forms of a link that is checked, each with the URL once. */
const LINKS: readonly Form[] = [
  (url) => url,
  (url) => `<${url}>`,
  (url) => `[a page](${url})`,
  (url) => `[a page](<${url}> "A title")`,
  (url) => `[**a** [page]](${url})`,
  (url) => `[![badge](https://img.test/x.svg)](${url})`,
  (url) => `<a class="x" href="${url}">a page</a>`,
  (url) => `<a\n href='${url}'><b>a page</b></a>`,
  (url) => `[[1]](${url})`,
];
/** Forms of a URL that is named and not checked. */
const SKIPPED: readonly Form[] = [
  (url) => `\`curl ${url}\``,
  (url) => `<!-- ${url} -->`,
  (url) => `![x](${url})`,
  (url) => `<img src="${url}">`,
  (url) => `<code>curl ${url}</code>`,
  (url) => `${url}/{id}`,
];
/** What surrounds a link in its line. */
const AROUND: readonly Form[] = [
  (link) => link,
  (link) => `(${link})`,
  (link) => `[${link} ]`,
  (link) => `“${link}”`,
  (link) => `「${link}」`,
  (link) => `（出典：${link}）`,
  (link) => `**${link}**`,
  (link) => `_${link}_`,
  (link) => `It has 4 steps, says ${link}.`,
  (link) => `It has 4 steps. ${link}! Really?`,
  (link) => `\\[1\\] ${link}; and \\_more\\_`,
  (link) => `A &amp; B: ${link}…`,
  (link) => `Write \`<!--\` or \`\`\` before ${link}`,
];
/** The block that has the line. */
const BLOCKS: readonly Form[] = [
  (line) => line,
  (line) => `# ${line}`,
  (line) => `- ${line.replaceAll('\n', '\n  ')}`,
  (line) => `1. an item\n   - ${line.replaceAll('\n', '\n     ')}`,
  (line) => `> ${line.replaceAll('\n', '\n> ')}`,
  (line) => `> - ${line.replaceAll('\n', '\n>   ')}\n> \n> > more`,
  (line) => `| a | b |\n|---|---|\n| x | ${line.replaceAll('\n', ' ')} |`,
  (line) => `[^n]: ${line.replaceAll('\n', '\n    ')}`,
  (line) => `[7] ${line}`,
  (line) => `\`\`\`npm\`\`\` is code.\n${line}`,
  (line) => `Text\n\n    code\n\n${line}`,
  (line) => `<details>\n<summary>More</summary>\n\n${line}\n\n</details>`,
  (line) => `<p align="center">\n  <b>x</b>\n</p>\n\n${line}`,
  (line) => `Sources:\n${line}`,
  (line) => `A line\n${line}\nand a line`,
];

const oneOf = (forms: readonly Form[]) => fc.constantFrom(...forms);
const part = fc.record({
  isSkipped: fc.boolean(),
  link: fc.nat(),
  around: oneOf(AROUND),
  block: oneOf(BLOCKS),
  isAscii: fc.boolean(),
});

test('no link of a text is lost: each is checked, or skipped with a reason, at its place', () => {
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 8 }), (parts) => {
      const urls = parts.map(({ isAscii }, at) => `https://n${at}.test/${isAscii ? 'page_(x)' : '東京'}`);
      const text = parts
        .map(({ isSkipped, link, around, block }, at) => {
          const forms = isSkipped ? SKIPPED : LINKS;
          return block(around((forms[link % forms.length] as Form)(urls[at] ?? '')));
        })
        .join('\n\n');
      const read = checkedText(text, textPieces(text));
      if (read.kind === 'too_long') throw new Error('too long');
      const own = (url: string) => /^https:\/\/n\d/.test(url);
      const checked = read.links.map(({ url }) => url).filter(own);
      const skipped = read.skipped.map(({ url }) => url.replace(/\/\{id\}.*/s, '')).filter(own);
      expect(checked, text).toEqual(urls.filter((_, at) => parts[at]?.isSkipped === false));
      expect(skipped, text).toEqual(urls.filter((_, at) => parts[at]?.isSkipped === true));
      const lines = text.split('\n');
      for (const { url, places } of read.links.filter(({ url }) => own(url)))
        for (const { line, column } of places) {
          const from = [lines[line - 1]?.slice(column - 1), ...lines.slice(line, line + 2)].join('\n');
          expect(from.slice(0, url.length + 50), text).toContain(url);
        }
    }),
    { numRuns: 500 },
  );
});
