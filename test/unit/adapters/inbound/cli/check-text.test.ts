import { err } from 'neverthrow';
import { expect, test } from 'vitest';
import { checkTextFor } from '../../../../../src/adapters/inbound/cli/check-text.ts';
import { checkSources } from '../../../../../src/application/check/check-sources.ts';
import { commandContext } from '../../../../support/command-context.ts';
import { never } from '../../../../support/core.ts';
import { FakeCitedPages } from '../../../../support/fake-cited-pages.ts';
import { FakeTextReader } from '../../../../support/fake-text-reader.ts';

const OK = { state: 'ok', status: 200 } as const;
const COMPARED = { state: 'compared', line: 1 } as const;
const TOWER = { visible: 'The tower of the town has 42 steps.', other: [], isCut: false };
const PAGES = {
  'https://tower.com': { ...OK, text: TOWER },
  'https://gone.com': { state: 'dead', status: 404 } as const,
  'https://refused.com': { state: 'unreadable', status: 403, reason: 'http_403' } as const,
  'https://a.com': OK,
  'http://10.0.0.1': { state: 'unreadable', reason: 'forbidden' } as const,
  'https://a.com:8443': { state: 'unreadable', reason: 'port' } as const,
  'https://b.com': OK,
  'https://old.com': { ...OK, finalUrl: 'https://new.com/', isMoved: true } as const,
  'https://home.com/x': {
    state: 'unreadable',
    status: 200,
    reason: 'home_page',
    finalUrl: 'https://home.com/',
  } as const,
  'https://c.com': { ...OK, text: { visible: '', other: [], isCut: true } },
};

type Over = Partial<Parameters<typeof checkTextFor>[0]> & { readonly text?: string };

function run({ text = 'https://a.com https://b.com', ...over }: Over = {}) {
  const { context, printed } = commandContext({ isTTY: true });
  const check = checkSources({
    citedPages: new FakeCitedPages(PAGES),
    texts: new FakeTextReader(),
    clock: context.clock,
  });
  return printed(checkTextFor({ ...context, check, texts: [{ text }], json: false, ...over }, never()));
}

test('a terminal has a line that counts the links, and is removed at the end', async () => {
  const { exitCode, out, err } = await run();
  expect({ exitCode, out }).toEqual({ exitCode: 0, out: '2 links: 2 read\n' });
  const lines = err.split('\r\u001B[2K');
  expect(lines).toEqual(['', '0 s  0 of 2 links', '0 s  1 of 2 links', '0 s  2 of 2 links', '']);
});

test.each(['http://10.0.0.1', 'https://a.com:8443'])('%s is read with --private, which is said once', async (text) => {
  const advice = 'Add --private to read pages on this machine, in your own network and on other\nports.\n';
  expect((await run({ text: `${text} https://b.com` })).err).toMatch(new RegExp(`\\u001B\\[2K${advice}$`));
  expect((await run({ text, json: true })).err).not.toContain('--private');
  expect((await run({ text, isPrivate: true })).err).not.toContain('--private');
  expect((await run()).err).not.toContain('--private');
});

test('links after the first hundred are one line', async () => {
  const { out } = await run({ text: Array.from({ length: 103 }, (_, at) => `https://a.com/${at}`).join(' ') });
  expect(out).toContain('\n- 3 more links: only the first 100 are checked\n\n100 links: ');
});

// S52
test('links after the first 2,000 are counted in the line and in JSON', async () => {
  const text = Array.from({ length: 2003 }, (_, at) => `https://a.com/${at}`).join(' ');
  expect((await run({ text })).out).toContain('\n- 1903 more links: only the first 100 are checked\n\n100 links: ');
  expect(JSON.parse((await run({ text, json: true })).out)).toMatchObject({ further_links: 3 });
});

test('a URL that is too long for a page is not requested, and named', async () => {
  const { out } = await run({ text: `https://a.com/${'a'.repeat(2048)}` });
  expect(out).toMatch(/\n- 1:1: https:\/\/a\.com\/a+…: a URL of more than 2,048 characters\n/);
});

test.each([
  ['The tower has 43 steps: https://c.com', '1:25: https://c.com: the page is too long'],
  ['その塔には43段あります（https://c.com）。', '1:14: https://c.com: ページが長すぎる'],
])('a page with which no figure can be compared is named, with the reason: %s', async (text, line) => {
  const { exitCode, out } = await run({ text });
  expect(exitCode).toBe(3);
  expect(out).toContain(`\n- ${line}\n`);
});

// S52
test('JSON has the summary, the links and the claims; findings have exit code 1', async () => {
  const text =
    'The tower has 43 steps (https://tower.com). It has 42 steps (https://tower.com). https://gone.com https://refused.com';
  const { exitCode, out } = await run({ text, json: true });
  expect(exitCode).toBe(1);
  const passage = 'The tower of the town has 42 steps.';
  expect(JSON.parse(out)).toEqual({
    summary:
      '3 links: 1 read, 1 not found, 1 not readable; 2 claims with figures: 2 compared; 1 has figures that are not on the page',
    findings: 2,
    links: [
      {
        url: 'https://tower.com',
        ...OK,
        line: 1,
        column: 25,
        places: [
          { line: 1, column: 25 },
          { line: 1, column: 62 },
        ],
      },
      { url: 'https://gone.com', state: 'dead', status: 404, reason: 'not found (HTTP 404)', line: 1, column: 82 },
      { url: 'https://refused.com', state: 'unreadable', status: 403, reason: 'HTTP 403', line: 1, column: 99 },
    ],
    claims: [
      { claim: 'The tower has 43 steps.', url: 'https://tower.com', missing: ['43'], passage, ...COMPARED, column: 1 },
      { claim: 'It has 42 steps.', url: 'https://tower.com', missing: [], passage, ...COMPARED, column: 45 },
    ],
    quotes: [],
    skipped: [],
  });
});

test('the report of a text in Japanese is in Japanese', async () => {
  const { out } = await run({ text: 'その塔には43段あります（https://tower.com）。詳細: https://gone.com' });
  expect(out).toBe(`確認結果:
- 1:1: https://tower.com: 「43」はページにありません
  文: その塔には43段あります。
- 1:37: https://gone.com: 見つかりません（HTTP 404）

リンク 2: 読めたもの 1、見つからないもの 1。数字のある文 1: 照合 1。1 文に、ページにない数字があります
`);
});

test.each([
  [' \n', 'There is nothing to check: the text is empty.\n'],
  ['x'.repeat(200_001), 'The text has 200001 characters; at most 200000 can be checked. Check a part of\nit.\n'],
])('a text that cannot be checked has exit code 2', async (text, message) => {
  expect(await run({ text })).toMatchObject({ exitCode: 2, out: '', err: expect.stringContaining(message) });
});

test('a report fits into a terminal, and JSON stays as it is', async () => {
  const text = 'The tower has 43 steps (https://tower.com).';
  expect((await run({ text, columns: 30 })).out).toContain(
    '- 1:1: https://tower.com:\n  "43" not on the page\n  claim: The tower has 43\n    steps.\n',
  );
  expect((await run({ text, columns: 30, json: true })).out).toBe((await run({ text, json: true })).out);
});

test('an interrupted check has exit code 130', async () => {
  expect(await run({ check: async () => err({ kind: 'cancelled' }) })).toMatchObject({ exitCode: 130, out: '' });
});

test('several files are one report, with the places of each; the exit code of one that cannot be checked wins', async () => {
  const texts = [
    { file: 'a.md', text: '# A\n\nThe tower has 43 steps (https://tower.com).' },
    { file: 'b.md', text: 'See https://gone.com.' },
  ];
  const { exitCode, out } = await run({ texts });
  expect(exitCode).toBe(1);
  expect(out).toBe(`Findings:
- a.md:3:1: https://tower.com: "43" not on the page
  claim: The tower has 43 steps.
  nearest passage: The tower of the town has 42 steps.
- b.md:1:5: https://gone.com: not found (HTTP 404)

2 links: 1 read, 1 not found; 1 claim with figures: 1 compared; 1 has figures that are not on the page
`);
  expect(await run({ texts: [...texts, { file: 'c.md', text: ' ' }] })).toMatchObject({
    exitCode: 2,
    err: expect.stringContaining('c.md: There is nothing to check'),
  });
});

test('what was not compared is counted, and is a finding only if the check is strict', async () => {
  const text = 'The tower has 43 steps (https://refused.com). It has 44 steps. A page: https://a.com';
  const summary =
    '2 links: 1 read, 1 not readable; 2 claims with figures: 0 compared, 1 not (page not readable), 1 cites nothing\n';
  expect(await run({ text })).toMatchObject({
    exitCode: 0,
    out: `Not readable:\n- 1:25: https://refused.com: HTTP 403\n\n${summary}`,
  });
  expect(await run({ text, isStrict: true })).toMatchObject({
    exitCode: 1,
    out: `Findings:\n- 1:25: https://refused.com: HTTP 403\n- 1:47: figures without a source\n  claim: It has 44 steps.\n\n${summary}`,
  });
});

test.each([
  ['no page could be read', 'https://refused.com', 3],
  ['a page is dead', 'https://refused.com https://gone.com', 1],
  ['there are no links', 'It has 44 steps.', 0],
])('the exit code if %s', async (_, text, expected) => expect((await run({ text })).exitCode).toBe(expected));

test('a redirect is shown with the address to which it leads, and whether it is permanent', async () => {
  const text = 'See https://old.com and https://home.com/x';
  expect(await run({ text })).toMatchObject({
    exitCode: 0,
    out: `Not readable:
- 1:25: https://home.com/x → https://home.com/: it leads to the home page
Redirected:
- 1:5: https://old.com → https://new.com/ (moved permanently)

2 links: 1 read, 1 not readable
`,
  });
  const { out } = await run({ text, json: true });
  expect(JSON.parse(out).links).toMatchObject([
    { url: 'https://old.com', final_url: 'https://new.com/', moved: true },
    { url: 'https://home.com/x', final_url: 'https://home.com/', state: 'unreadable' },
  ]);
});

test('URLs that are not checked are counted, with the reasons', async () => {
  const { out } = await run({
    text: 'See https://a.com and [x](y.md), `curl https://b.com`.',
    ignored: ['https://a.*'],
  });
  expect(out).toBe('No links; 3 URLs skipped: 1 ignored, 1 relative, 1 in code\n');
});
