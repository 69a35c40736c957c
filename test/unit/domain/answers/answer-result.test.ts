import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Reply } from '../../../../src/domain/answers/reply.ts';
import { anyCharacter } from '../../../support/any-text.ts';
import { runs } from '../../../support/sized.ts';
import { answerTo, outcomeOf, searched } from '../../../support/to-answer.ts';

const textOf = (text: string, ...cited: readonly string[]) => answerTo(searched(text, ...cited)).answer;
const lines = (...all: readonly string[]) => all.join('\n');

describe('the output contract', () => {
  test('an answer with a search has its sources at the end, and as citations', () => {
    expect(answerTo(searched('Sunny.', 'https://a.com/x?utm_source=openai'))).toEqual({
      answer: 'Sunny.\n\nSources:\n- https://a.com/x (2026-01-05)',
      used_search: true,
      citations: [{ url: 'https://a.com/x', published_at: '2026-01-05' }],
      model: 'gpt-5.2',
    });
  });

  test('an answer without a search is unchanged', () => {
    const text = 'Not Found.\n\nSources:\n- my memory';
    const { answer, used_search, citations } = answerTo({ ...searched(text), searched: false });
    expect([answer, used_search, citations]).toEqual([text, false, []]);
  });

  test('an answer without a search names nothing that was consulted', () => {
    const reply = { ...searched('Not Found.'), searched: false };
    const sources = { cited: [], consulted: ['https://a.com', 'oai-weather'], opened: [] };
    expect(answerTo({ ...reply, sources }).citations).toEqual([]);
  });

  test('a citation proves a search, even if no search call was reported', () => {
    expect(answerTo({ ...searched('Sunny.', 'https://a.com'), searched: false }).used_search).toBe(true);
  });

  test('a search whose sources have no name is itself named', () => {
    expect(answerTo(searched('Sunny.'))).toMatchObject({
      answer: 'Sunny.\n\nSources:\n- web_search (2026-01-05)',
      used_search: true,
      citations: [],
    });
  });

  test('the dates are those of the recording, offline', () => {
    const { answer, citations } = answerTo({ ...searched('Sunny.', 'https://a.com'), accessedOn: '2025-12-01' });
    expect(answer).toBe('Sunny.\n\nSources:\n- https://a.com (2025-12-01)');
    expect(citations).toEqual([{ url: 'https://a.com', published_at: '2025-12-01' }]);
  });

  test.each([
    '```npm i``` installs it.',
    '> ```\n> npm i\n\nIt is installed.',
    '- Run:\n  ```\n  npm i\n\nIt is installed.',
  ])('the list of the model is replaced after code: %j', (text) => {
    const complete = `${text}\n\nSources:\n- https://a.com (2025-11-01)`;
    expect(textOf(complete, 'https://a.com')).toBe(complete);
  });

  test('the text is cleaned', () => {
    expect(textOf('Sunny\u202E. \uE200cite\uE202turn0search0\uE201([a](https://a.com?utm_source=openai))\r\n')).toBe(
      'Sunny. ([a](https://a.com))\n\nSources:\n- https://a.com (2026-01-05)',
    );
  });
});

// S40
describe('an answer without text', () => {
  test.each([' \n\t', '\u200E\u001B', '\uE200cite\uE202turn0search0\uE201'])('%j is a failure', (text) => {
    expect(outcomeOf(searched(text, 'https://a.com'))._unsafeUnwrapErr()).toEqual({ kind: 'empty_answer' });
  });

  test('states why it is incomplete', () => {
    const reply: Reply = { ...searched(''), ending: { kind: 'incomplete', reason: 'max_output_tokens' } };
    expect(outcomeOf(reply)._unsafeUnwrapErr()).toEqual({ kind: 'empty_answer', reason: 'max_output_tokens' });
  });
});

describe('an incomplete answer', () => {
  const cut = (reply: Reply): Reply => ({ ...reply, ending: { kind: 'incomplete', reason: 'max_output_tokens' } });

  test('says so before its sources', () => {
    const note = '[The answer was cut off at the output token limit (max_output_tokens).]';
    expect(answerTo(cut(searched('Sunny and', 'https://a.com'))).answer).toBe(
      `Sunny and\n\n${note}\n\nSources:\n- https://a.com (2026-01-05)`,
    );
  });

  test('says so in Japanese to a question in Japanese', () => {
    expect(answerTo(cut(searched('晴れで', 'https://a.com')), { query: '東京の天気は？' }).answer).toContain(
      '\n\n[回答は途中で切れています（max_output_tokens）。]\n\nSources:\n',
    );
  });
});

test("an answer longer than configured loses sources of the model's list rather than text or citations", () => {
  const listed = Array.from({ length: 50 }, (_, n) => `- https://b.com/${n} (2026-01-01)`).join('\n');
  const { answer } = answerTo(searched(`Sunny.\n\nSources:\n${listed}`, 'https://a.com'), { maxAnswerChars: 1000 });
  const note = '[The answer is too long: sources other than the citations were omitted.]';
  expect(answer).toBe(`Sunny.\n\n${note}\n\nSources:\n- https://a.com (2026-01-05)`);
});

// S40
test('a refusal is the answer', () => {
  const reply: Reply = { ...searched('I cannot help with that.'), searched: false, ending: { kind: 'refused' } };
  expect(answerTo(reply).answer).toBe('I cannot help with that.');
});

describe('a heading in any formatting becomes one Sources:', () => {
  test.each([
    'SOURCE：',
    '### Sources ###',
    '🔗 **Sources**',
    '<b>Sources:</b>',
    '`Sources used:`',
    'Sources (accessed today):',
    '■ 出典一覧：',
    '（出典）',
    '**情報源：**',
    '【参考】',
    '参考URL：',
  ])('%s', (heading) => {
    const text = lines('Sunny.', '', heading, '- https://a.com/x (2026-01-01)', '- [B](https://b.com) 2025-12-31');
    expect(textOf(text, 'https://a.com/x')).toBe(
      lines('Sunny.', '', 'Sources:', '- https://a.com/x (2026-01-01)', '- https://b.com (2025-12-31)'),
    );
  });

  test.each([
    ['with blank lines between', 'Sunny.\n\nSources:\n\n- https://a.com (2026-01-01)\n\n- https://a.com/#b\n'],
    ['with Japanese bullets', 'Sunny.\n\n出典：\n・https://a.com (2026-01-01)'],
    ['in a quotation', 'Sunny.\n\n> Sources:\n> - https://a.com (2026-01-01)'],
    ['on the heading’s line', 'Sunny.\n\n**Sources:** https://a.com (2026-01-01)'],
    ['on the heading’s line, in Japanese', 'Sunny.\n\n出典：https://a.com (2026-01-01)'],
    ['over several lines', 'Sunny.\n\nSources:\n- Forecast\n  https://a.com\n  2026-01-01'],
  ])('%s', (_, text) => {
    expect(textOf(text, 'https://a.com')).toBe('Sunny.\n\nSources:\n- https://a.com (2026-01-01)');
  });
});

describe('the sources that the model listed', () => {
  const listed = (list: string, ...cited: readonly string[]) =>
    textOf(`Sunny.\n\nSources:\n${list}`, ...cited)
      .split('\n')
      .slice(3);

  test('follow the citations, as URLs', () => {
    const list = '- JMA, forecast: https://b.com (2026-01-02)\n- [A](https://a.com), [C](https://c.com)\n- oai-weather';
    const reply = searched(`Sunny.\n\nSources:\n${list}`, 'https://c.com');
    const { answer } = answerTo({ ...reply, sources: { ...reply.sources, consulted: ['oai-weather'] } });
    expect(answer.split('\n').slice(3)).toEqual([
      '- https://c.com (2026-01-05)',
      '- oai-weather (2026-01-05)',
      '- https://b.com (2026-01-02)',
      '- https://a.com (2026-01-05)',
    ]);
  });

  test('keep their numbers, to which the text may refer', () => {
    expect(listed('1. https://a.com\n2. [B](https://b.com) (2026-01-02)', 'https://b.com')).toEqual([
      '- [2] https://b.com (2026-01-02)',
      '- [1] https://a.com (2026-01-05)',
    ]);
  });

  test.each(['None', 'なし。', 'web_search (2026-01-05)'])('may be nothing: %s', (nothing) => {
    expect(listed(`- ${nothing}`)).toEqual(['- web_search (2026-01-05)']);
  });

  test('may be missing below their heading', () => {
    expect(textOf('Sunny.\n\n**Sources:**\n')).toBe('Sunny.\n\nSources:\n- web_search (2026-01-05)');
  });

  test('of several sections are one list', () => {
    const text = '## A\nOne.\n\nSources:\n- https://a.com\n\n## B\nTwo.\n\n出典：\n- https://b.com\n- https://a.com';
    expect(textOf(text)).toBe(
      '## A\nOne.\n\n## B\nTwo.\n\nSources:\n- https://a.com (2026-01-05)\n- https://b.com (2026-01-05)',
    );
  });

  test.each([
    ['https://a.com/x/#part', 'https://a.com/x'],
    ['<https://a.com/x>,', 'https://a.com/x'],
    ['気象庁（https://a.com/x）', 'https://a.com/x'],
    ['https://ja.wikipedia.org/wiki/東京', 'https://ja.wikipedia.org/wiki/東京'],
    ['https://a.com/x?a=(b)&c=$1', 'https://a.com/x?a=(b)&c=$1'],
  ])('are not listed again if they are cited: %s is %s', (line, cited) => {
    expect(listed(`- ${line} (2026-01-01)`, cited)).toEqual([`- ${cited} (2026-01-01)`]);
  });

  test.each([
    ['https://a.com/x.html', 'https://a.com/x'],
    ['https://web.archive.org/web/2026/https://a.com/x', 'https://a.com/x'],
  ])('are listed beside a similar page: %s is not %s', (line, cited) => {
    expect(listed(`- ${line}`, cited)).toEqual([`- ${cited} (2026-01-05)`, `- ${line} (2026-01-05)`]);
  });

  test('have no URL with a password', () => {
    expect(listed('- https://user:password@a.com/\n- https://b.com')).toEqual(['- https://b.com (2026-01-05)']);
  });

  test.each([
    ['https://a.com/x, 2026-01-01', '2026-01-01'],
    ['[A](https://a.com/x)（2026-01-01閲覧）', '2026-01-01'],
    ['https://a.com/x (January 1, 2026)', '2026-01-05'],
    ['https://a.com/x (2026-13-01)', '2026-01-05'],
    ['https://a.com/x (12026-01-01)', '2026-01-05'],
    ['https://a.com/x#2025-12-30', '2026-01-05'],
  ])('have the date that the model named: %s', (line, date) => {
    expect(listed(`- ${line}`, 'https://a.com/x')).toEqual([`- https://a.com/x (${date})`]);
  });
});

test('a list of sources is moved after text that follows it', () => {
  const text = lines('Sunny.', '', 'Sources:', '- https://a.com (2026-01-01)', '', 'Shall I look at tomorrow too?');
  expect(textOf(text, 'https://a.com')).toBe(
    lines('Sunny.', '', 'Shall I look at tomorrow too?', '', 'Sources:', '- https://a.com (2026-01-01)'),
  );
});

describe('what is not a list of sources is unchanged', () => {
  test.each([
    [
      'a section that lists the sources of the Nile',
      lines('# The Nile', '', '## Sources', '- Lake Victoria', '- Lake Tana', '', '## Mouth', 'A delta.'),
    ],
    [
      'a list of foods whose facts are cited',
      lines('**Sources:**', '- Oranges ([b.com](https://b.com))', '- Kiwis ([c.com](https://c.com))', '', 'Eat them.'),
    ],
    ['a list at the end of the text', lines('Vitamin C:', '', 'Sources:', '- Oranges', '- Kiwis')],
    ['YAML without a fence', lines('version: 2', 'sources:', '  - name: main', '    path: src', 'targets: all')],
    ['links among other items', lines('Sources:', '- https://b.com', '- Oranges', '', 'Eat them.')],
    ['a sentence that begins with the word', 'Sources of energy differ.\n\nSources say so: https://b.com.'],
    ['a link called Source', '[Source](https://b.com) says so.'],
    ['a remark', '参考になります。\n\n参考までに、明日は雨です。'],
    ['code', lines('```yaml', 'Sources:', '- https://b.com', '```', '', 'That is all.')],
    ['a table', lines('| Source | Date |', '|---|---|', '| https://b.com | 2026-01-01 |', '', 'That is all.')],
  ])('%s', (_, text) => {
    expect(textOf(text, 'https://a.com')).toBe(`${text}\n\nSources:\n- https://a.com (2026-01-05)`);
  });

  test('a fence inside a fence of another kind does not end it', () => {
    const text = lines('````', '```', 'Sources:', '- https://b.com', '````');
    expect(textOf(`${text}\n\nSources:\n- https://a.com (2026-01-01)`, 'https://a.com')).toBe(
      `${text}\n\nSources:\n- https://a.com (2026-01-01)`,
    );
  });
});

describe('laws', () => {
  const url = fc.constantFrom(
    'https://a.com',
    'https://a.com/x',
    'https://b.jp/2025-12-30/x?utm_source=openai',
    'https://b.jp/2025-12-30/x?a=1',
    'https://ja.wikipedia.org/wiki/東京',
  );
  const date = fc.constantFrom('', ' (2026-01-01)', ' 2025-12-31', '（2025-12-31）', ' (January 2026)');
  const link = fc.oneof(
    url,
    url.map((to) => `[A page](${to})`),
    url.map((to) => `<${to}>`),
    fc.constant('oai-weather'),
  );
  const bullet = fc.constantFrom('- ', '* ', '• ', '1. ', '', '> - ', '・', '  - ');
  const entry = fc.tuple(bullet, link, date).map((parts) => parts.join(''));
  const heading = fc.constantFrom(
    'Sources:',
    '**Sources:**',
    '## Sources',
    '出典：',
    '【情報源】',
    '参考:',
    '> Sources:',
  );
  const section = fc
    .tuple(heading, fc.constantFrom('\n', '\n\n'), fc.array(entry, { minLength: 1, maxLength: 4 }))
    .map(([above, gap, entries]) => `${above}${gap}${entries.join('\n')}`);
  const inline = fc
    .tuple(fc.constantFrom('Sources: ', '**Source:** ', '出典：'), link, date)
    .map((parts) => parts.join(''));
  const prose = fc.constantFrom(
    'Sunny.',
    '東京は晴れ。',
    '## Tokyo\nIt is 5°C.',
    'See [A page](https://a.com/x).',
    '```\nSource: code\n```',
    '---',
    '# The Nile\n\n## Sources\n\nTwo: the White and the Blue Nile.',
  );
  const text = fc
    .tuple(prose, fc.array(fc.oneof(prose, section, inline), { maxLength: 6 }), fc.constantFrom('\n\n', '\n'))
    .map(([first, rest, gap]) => [first, ...rest].join(gap));
  const reply = fc
    .record({
      text,
      cited: fc.array(url, { maxLength: 4 }),
      consulted: fc.array(fc.constantFrom('oai-weather', 'oai-x')),
    })
    .map(({ text, cited, consulted }): Reply => {
      const base = searched(text, ...cited);
      return { ...base, sources: { ...base.sources, consulted: ['oai-weather', ...consulted] } };
    });

  // S39
  test('the section of the program is last, and each of its lines has an ISO date', () => {
    fc.assert(
      fc.property(reply, (reply) => {
        const all = answerTo(reply).answer.split('\n');
        // A section of the model that mixes links and other items stays above it.
        const below = all.slice(all.lastIndexOf('Sources:') + 1);
        expect(below.length).toBeLessThan(all.length);
        expect(below.length).toBeGreaterThan(0);
        for (const line of below) expect(line.replace(/https?:[^\s)（）]+/g, '')).toMatch(/^- .*\d{4}-\d{2}-\d{2}/);
      }),
      { numRuns: runs(1000) },
    );
  });

  test('an answer of an answer is the same answer', () => {
    fc.assert(
      fc.property(reply, (reply) => {
        const once = answerTo(reply);
        expect(answerTo({ ...reply, text: once.answer })).toEqual(once);
      }),
      { numRuns: runs(1000) },
    );
  });

  test('no text makes it throw or hang', () => {
    const odd = fc.array(
      fc.oneof(
        fc.string({ unit: anyCharacter, maxLength: 8 }),
        fc.constantFrom('Sources', ':', '\n', '出典', '：', '```', '- ', '<b', 'https://a.com', '(', '▶', '\u2028'),
      ),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(odd, (pieces) => {
        outcomeOf(searched(pieces.join(''), 'https://a.com'));
      }),
      { numRuns: runs(1000) },
    );
  });

  test.each([
    ['triangles', '▶'.repeat(200_000)],
    ['spaces', `Sources${' '.repeat(200_000)}\u2028`],
    ['tags', '<b'.repeat(200_000)],
    ['headings without sources', 'Sources\nfoo bar\n\n'.repeat(20_000)],
    ['spaces inside a source', `Sources:\n- a${' '.repeat(200_000)}b`],
  ])('read very many %s', (_, text) => {
    // Quadratic work would take minutes, and end with the time limit of tests.
    expect(textOf(`Sunny.\n${text}\nRain.`, 'https://a.com')).toContain('Sunny.');
  });
});

describe('a hostile reply', () => {
  test('with a URL of 100,000 characters is answered without this source', () => {
    const url = `https://a.com/${'x'.repeat(100_000)}`;
    const reply = searched(`Sunny. ([a](${url}))\n\nSources:\n- ${url}`, url, 'https://b.com');
    expect(answerTo(reply, { maxAnswerChars: 1_000_000 })).toMatchObject({
      answer: `Sunny. ([a](${url}))\n\nSources:\n- https://b.com (2026-01-05)`,
      citations: [{ url: 'https://b.com' }],
    });
  });

  test.each([
    ['the cited URL', (n: number) => 'https://a.com/x'.repeat(n / 15)],
    ['the cited URL with fragments', (n: number) => 'https://a.com/x#https://a.com/xx#'.repeat(n / 33)],
    ['joiners in a URL', (n: number) => `https://a.com/${'\u200D'.repeat(n)}x`],
  ])('that repeats %s a megabyte long is answered', (_, text) => {
    const sources = {
      cited: [{ url: 'https://a.com/x', title: text(1_000_000) }, { url: text(1_000_000) }],
      consulted: ['oai-weather', text(1_000_000)],
      opened: [],
    };
    const reply = { ...searched(`Sunny.\n\nSources:\n- ${text(1_000_000)}\n`), sources };
    // Quadratic work would take minutes, and end with the time limit of tests.
    expect(answerTo(reply).citations.map(({ url }) => url)).toContain('oai-weather');
  });
});
