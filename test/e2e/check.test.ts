import { describe, expect, onTestFinished, test } from 'vitest';
import { EVIDENCE_FOLDERS, labelledClaims } from '../support/evidence-pages.ts';
import { startForwardProxy } from '../support/forward-proxy.ts';
import { type PageHandler, startPageServer } from '../support/page-server.ts';
import { runCli } from '../support/run-cli.ts';
import { newFile } from './files.ts';

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

const REPORT = `The tower has 43 steps.[1] It has 42 steps.[1]\n\n## References\n1. ${PAGE}\n2. ${GONE}\n3. ${REFUSED}\n`;
const SUMMARY = '3 links: 1 read, 1 not found, 1 not readable; 1 of 2 claims has figures that are not on the page';

describe('check', () => {
  // S52
  test('of a file: the findings, what could not be read, and a line that sums up; without a key', async () => {
    const { env, pages, proxy } = await web();
    const file = newFile('report.md', REPORT);
    const { code, stdout, stderr } = await runCli(['check', file], { env });
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(stdout).toBe(`Findings:
- ${GONE}: not found (HTTP 404)
- ${PAGE}: "43" not on the page
  claim: The tower has 43 steps.
  nearest passage: The tower of the town has 42 steps.
Not readable:
- ${REFUSED}: HTTP 403

${SUMMARY}
`);
    // Nothing else leaves.
    expect(new Set(proxy.seen)).toEqual(new Set(['CONNECT page.test:80']));
    expect(pages.requests[0]?.headers['user-agent']).toMatch(/^openai-responses-mcp\/\d\S+ \(checks sources\)$/);
  });

  test('of standard input, as JSON', async () => {
    const { env } = await web();
    const { code, stdout } = await runCli(['check', '-', '--json'], { env, stdin: REPORT });
    expect(code).toBe(1);
    const passage = 'The tower of the town has 42 steps.';
    expect(JSON.parse(stdout)).toEqual({
      summary: SUMMARY,
      findings: 2,
      links: [
        { url: PAGE, state: 'ok', status: 200 },
        { url: GONE, state: 'dead', status: 404, reason: 'not found (HTTP 404)' },
        { url: REFUSED, state: 'unreadable', status: 403, reason: 'HTTP 403' },
      ],
      claims: [
        { claim: 'The tower has 43 steps.', url: PAGE, missing: ['43'], passage },
        { claim: 'It has 42 steps.', url: PAGE, missing: [], passage },
      ],
    });
  });

  test('of a page on the web; without findings, the exit code is 0', async () => {
    const { env, pages } = await web();
    const html = `<!doctype html><p>The tower has <a href="${PAGE}">42 steps</a>.</p>`;
    pages.serve('/report', html);
    const { code, stdout } = await runCli(['check', 'http://page.test/report'], {
      env,
    });
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: '1 link: 1 read; 0 of 1 claim has figures that are not on the page\n',
    });
  });

  test('in Japanese for a text in Japanese', async () => {
    const { env } = await web();
    const { stdout } = await runCli(['check', '-'], { env, stdin: `その塔には43段あります（${PAGE}）。詳細: ${GONE}` });
    expect(stdout).toContain(`- ${PAGE}: 「43」はページにありません\n  文: その塔には43段あります。\n`);
    expect(stdout).toMatch(
      /\n\nリンク 2: 読めたもの 1、見つからないもの 1。数字のある 1 文のうち 1 文に、ページにない数字があります\n$/,
    );
  });

  test.each<[string, readonly string[], string, string]>([
    ['a file that is not there', ['check', '/nowhere/x.md'], '', 'The file /nowhere/x.md cannot be read (ENOENT).\n'],
    ['a page that is not there', ['check', GONE], '', `${GONE} cannot be read: not found (HTTP 404).\n`],
    ['a page that is refused', ['check', REFUSED], '', `${REFUSED} cannot be read: HTTP 403.\n`],
    ['a page that is no text', ['check', PDF], '', `${PDF} cannot be read: not text.\n`],
    ['a file that is no text', ['check', '-'], '%PDF-1.7\0 https://page.test', '- cannot be read: not text.\n'],
    [
      'a private address',
      ['check', 'http://10.0.0.1/'],
      '',
      'http://10.0.0.1/ cannot be read: not a public address.\n',
    ],
    ['an empty text', ['check', '-'], ' \n', 'There is nothing to check: the text is empty.\n'],
    [
      'a text that is too long',
      ['check', '-'],
      'x'.repeat(200_001),
      'The text has 200001 characters; at most 200000 can be checked. Check a part of it.\n',
    ],
    [
      'two texts',
      ['check', 'a', 'b'],
      '',
      'check needs a text: openai-responses-mcp check <file | URL | ->\nTry openai-responses-mcp --help\n',
    ],
  ])('of %s has exit code 2, and says why', async (_, args, stdin, stderr) => {
    const { env } = await web();
    expect(await runCli(args, { env, stdin })).toMatchObject({ code: 2, stdout: '', stderr });
  });

  test('requests nothing from addresses that are not public', async () => {
    const { pages, env } = await web();
    const own = `http://127.0.0.1:${pages.port}/tower`;
    const local = [own, 'http://localhost/', 'http://169.254.169.254/latest', 'http://page.test:8080/'];
    const { code, stdout } = await runCli(['check', '-'], { stdin: local.join('\n') });
    expect(code).toBe(0);
    expect(stdout.match(/: not a public address\n/g)).toHaveLength(4);
    expect(pages.connections()).toBe(0);

    // Nor does a page lead there.
    pages.serve('/away', (_, response) => response.writeHead(302, { location: own }).end());
    const led = await runCli(['check', '-'], { env, stdin: 'http://page.test/away' });
    expect(led).toMatchObject({ code: 0, stdout: expect.stringContaining('/away: not a public address\n') });
    expect(pages.requests.map(({ path }) => path)).toEqual(['/away']);
  });
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
