import { expect, onTestFinished, test } from 'vitest';
import { EVIDENCE_FOLDERS, labelledClaims } from '../support/evidence-pages.ts';
import { startForwardProxy } from '../support/forward-proxy.ts';
import { type PageHandler, startPageServer } from '../support/page-server.ts';
import { runCli } from '../support/run-cli.ts';
import { HAS_PDFTOTEXT, tinyPdf } from '../support/tiny-pdf.ts';
import { newFile, newFolder } from './files.ts';

/** Names that end in `.test` are this machine for the proxy, which is the web here. */
const PAGE = 'http://page.test/tower';
const GONE = 'http://page.test/gone';
const REFUSED = 'http://page.test/refused';
const PDF = 'http://page.test/report.pdf';

const TOWER = `<p>The tower of the town has 42 steps.</p><p>${'It is a page about the tower of the town. '.repeat(10)}</p>`;
const forbidden: PageHandler = (_, response) => response.writeHead(403).end();

async function web() {
  const pages = await startPageServer();
  onTestFinished(() => pages.close());
  pages.serve('/tower', TOWER);
  pages.serve('/refused', forbidden);
  pages.serve('/report.pdf', '%PDF-1.7', 'application/pdf');
  const proxy = await startForwardProxy(pages.port);
  onTestFinished(() => proxy.close());
  return { pages, proxy, env: { HTTP_PROXY: proxy.url } };
}

test('check of a file: the findings, what could not be read, and a line that sums up; without a key', async () => {
  const { env, pages, proxy } = await web();
  const local = `http://127.0.0.1:${pages.port}/tower`;
  const links = [PAGE, GONE, REFUSED, local].map((url, at) => `${at + 1}. ${url}\n`).join('');
  const file = newFile('report.md', `The tower has 43 steps.[1] It has 42 steps.[1]\n\n## References\n${links}`);
  const { code, stdout, stderr } = await runCli(['check', file], { env });
  const advice = 'Add --private to read pages on this machine, in your own network and on other ports.\n';
  expect({ code, stderr }).toEqual({ code: 1, stderr: advice });
  expect(stdout).toBe(`Findings:
- ${file}:1:1: ${PAGE}: "43" not on the page
  claim: The tower has 43 steps.
  nearest passage: The tower of the town has 42 steps.
- ${file}:5:4: ${GONE}: not found (HTTP 404)
Not readable:
- ${file}:6:4: ${REFUSED}: HTTP 403
- ${file}:7:4: ${local}: not a public address

4 links: 1 read, 1 not found, 2 not readable; 2 claims with figures: 2 compared; 1 has figures that are not on the page
`);
  // Nothing else leaves.
  expect(new Set(proxy.seen)).toEqual(new Set(['CONNECT page.test:80']));
  expect(new Set(pages.requests.map(({ path }) => path))).toEqual(new Set(['/tower', '/gone', '/refused']));
  expect(pages.requests[0]?.headers['user-agent']).toMatch(/^openai-responses-mcp\/\d\S+ \(checks sources\)$/);
});

// N4.6
test('check of quotations: those that are not on the page in these words are findings', async () => {
  const { env } = await web();
  const report = [
    `The page says “It is a page about the tower of the town” ([source](${PAGE})).`,
    `It also says “It is a page about the tower of the city” ([source](${PAGE})).`,
    `> It is a page about the … town.\n> — [The town](${PAGE})`,
    `He says “It is a page about the tower of the town” ([source](${REFUSED})).`,
    `町は「塔の階段は全部で四十二段である」と言う（[出典](${PAGE})）。`,
  ].join('\n\n');
  const file = newFile('report.md', report);
  const { code, stdout } = await runCli(['check', file], { env });
  expect(code).toBe(1);
  expect(stdout).toContain(
    `- ${file}:3:14: ${PAGE}: the quotation is not on the page in these words
  quotation: It is a page about the tower of the city
  nearest passage: `,
  );
  expect(stdout).toContain(`- ${file}:10:3: ${PAGE}: the quotation is not on the page in these words\n`);
  expect(stdout).toMatch(/; 5 quotations: 2 on the page, 2 not on the page, 1 not compared \(page not readable\)\n$/);
  const json = JSON.parse((await runCli(['check', file, '--json'], { env })).stdout);
  expect(json).toMatchObject({ findings: 2 });
  expect(json.quotes).toMatchObject([
    { quote: 'It is a page about the tower of the town', state: 'found', url: PAGE, file, line: 1, column: 15 },
    { state: 'missing', url: PAGE, line: 3, column: 14, passage: expect.any(String) },
    { quote: 'It is a page about the … town.', state: 'found', line: 5, column: 3 },
    { state: 'unread', url: REFUSED, line: 8 },
    { state: 'missing', line: 10, column: 3 },
  ]);
});

// N4.9
test('check with --private reads pages of this machine and on other ports, without a proxy, each within --timeout', async () => {
  const { pages } = await web();
  const local = `http://127.0.0.1:${pages.port}/tower`;
  const stdin = `The tower has 43 steps (${local}).`;
  const refused = await runCli(['check', '-'], { stdin });
  expect(refused).toMatchObject({ code: 3, stdout: expect.stringContaining(`${local}: not a public address`) });
  const read = await runCli(['check', '-', '--private'], { stdin });
  expect(read).toMatchObject({ code: 1, stdout: expect.stringContaining(`${local}: "43" not on the page`) });
  pages.serve('/silent', () => {});
  const silent = `http://127.0.0.1:${pages.port}/silent`;
  const ended = await runCli(['check', '-', '--private', '--timeout=0.1'], { stdin: silent });
  expect(ended).toMatchObject({ code: 3, stdout: expect.stringContaining(`${silent}: no response in time`) });
});

test('check of a file in UTF-16 or Shift_JIS reads it', async () => {
  const { env } = await web();
  const text = `The tower has 43 steps (${PAGE}).`;
  const japanese = Buffer.concat([Buffer.of(0x93, 0x8c, 0x8b, 0x9e, 0x81, 0x42, 0x0a), Buffer.from(text)]);
  for (const stdin of [Buffer.from(`\uFEFF${text}`, 'utf16le'), japanese]) {
    const { code, stdout } = await runCli(['check', '-'], { env, stdin });
    expect(code).toBe(1);
    expect(stdout).toContain('The tower has 43 steps.');
    expect(stdout).toMatch(/^- \d:\d: http:\/\/page\.test\/tower: .43/m);
  }
});

// N4.7
test.skipIf(!HAS_PDFTOTEXT)('check of a PDF: its passages have the number of their page', async () => {
  const { env, pages } = await web();
  pages.serve(
    '/report.pdf',
    tinyPdf([['An old book.'], ['The tower of the town has', '42 steps.']]),
    'application/pdf',
  );
  const stdin = `The tower has 43 steps ([report](${PDF})). It has 42 steps ([report](${PDF})).`;
  const { code, stdout } = await runCli(['check', '-'], { env, stdin });
  expect({ code, stdout }).toEqual({
    code: 1,
    stdout: `Findings:
- 1:1: ${PDF}: "43" not on the page
  claim: The tower has 43 steps.
  nearest passage (page 2): The tower of the town has 42 steps.

1 link: 1 read; 2 claims with figures: 2 compared; 1 has figures that are not on the page
`,
  });
  const { claims } = JSON.parse((await runCli(['check', '-', '--json'], { env, stdin })).stdout);
  expect(claims[0]).toMatchObject({ page: 2, passage: 'The tower of the town has 42 steps.' });
});

test('check of a PDF without a program that reads it says what to install', async () => {
  const { env } = await web();
  const stdin = `The tower has 43 steps ([report](${PDF})).`;
  const { code, stdout } = await runCli(['check', '-'], { env: { ...env, PATH: newFolder() }, stdin });
  expect(code).toBe(3);
  expect(stdout).toContain(`- 1:25: ${PDF}: a PDF: install poppler-utils to read it\n`);
});

test('check of a page on the web; without findings, the exit code is 0', async () => {
  const { env, pages } = await web();
  pages.serve('/report', `<!doctype html><p>The tower has <a href="${PAGE}">42 steps</a>.</p>`);
  expect(await runCli(['check', 'http://page.test/report'], { env })).toMatchObject({
    code: 0,
    stdout: '1 link: 1 read; 1 claim with figures: 1 compared\n',
  });
});

test('check of what cannot be read has exit code 2, and says why', async () => {
  const { env } = await web();
  const checked = async (source: string, stdin = '') => {
    const { code, stdout, stderr } = await runCli(['check', source], { env, stdin });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    return stderr;
  };
  const sources = ['/nowhere/x.md', GONE, PDF, 'http://10.0.0.1/'];
  const reasons = await Promise.all([...sources.map((source) => checked(source)), checked('-', '%PDF-1.7\0 a')]);
  expect(reasons).toEqual([
    'The file /nowhere/x.md cannot be read (ENOENT).\n',
    `${GONE} cannot be read: not found (HTTP 404).\n`,
    `${PDF} cannot be read: not text.\n`,
    'http://10.0.0.1/ cannot be read: not a public address.\n',
    '- cannot be read: not text in UTF-8, UTF-16, Shift_JIS or EUC-JP.\n',
  ]);
});

test.each(EVIDENCE_FOLDERS)(
  'of altered figures in a report at least four in five are found, with at most 3 in 100 false alarms: %s',
  async (folder) => {
    const { env, pages } = await web();
    const entries = labelledClaims(folder).map((entry) => ({ ...entry, claim: entry.claim.replace(/\s+/g, ' ') }));
    const urls = new Map(
      [...new Set(entries.map(({ html }) => html))].map((html, at) => [html, `http://page.test/${at}`]),
    );
    for (const [html, url] of urls) pages.serve(new URL(url).pathname, html);
    const stdin = entries.map(({ claim, html }) => `- ${claim} ([page](${urls.get(html)}))`).join('\n');
    const { stdout } = await runCli(['check', '-', '--json'], { env, stdin });
    const { claims } = JSON.parse(stdout) as {
      readonly claims: readonly { readonly claim: string; readonly url: string; readonly missing: readonly string[] }[];
    };
    const share = (isTrue: boolean) => {
      const some = entries.filter((entry) => entry.isTrue === isTrue);
      const found = some.filter(({ claim, html }) =>
        claims.some((one) => one.url === urls.get(html) && claim.includes(one.claim) && one.missing.length > 0),
      );
      return found.length / some.length;
    };
    expect(share(false)).toBeGreaterThanOrEqual(0.8);
    expect(share(true)).toBeLessThanOrEqual(0.03);
  },
);
