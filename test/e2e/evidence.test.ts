import { expect, onTestFinished, test } from 'vitest';
import { answers } from '../support/behaviours.ts';
import { EVIDENCE_FOLDERS, labelledClaims } from '../support/evidence-pages.ts';
import { startForwardProxy } from '../support/forward-proxy.ts';
import { startPageServer } from '../support/page-server.ts';
import { answerOf, apiEnv, fakeApi, serve } from './serve.ts';

const AT_ONCE = 10;

test.each(EVIDENCE_FOLDERS)(
  'of altered figures at least four in five are found, with at most 3 in 100 false alarms: %s',
  async (folder) => {
    const api = await fakeApi();
    const pages = await startPageServer();
    onTestFinished(() => pages.close());
    const proxy = await startForwardProxy(pages.port);
    onTestFinished(() => proxy.close());
    const claims = labelledClaims(folder).map((entry, at) => ({ ...entry, url: `http://page.test/${at}` }));
    for (const { url, html } of claims) pages.serve(new URL(url).pathname, html);
    const env = {
      CHECK_CITATIONS: 'evidence',
      MAX_CITATIONS: `${AT_ONCE}`,
      HTTP_PROXY: proxy.url,
      NO_PROXY: '127.0.0.1',
    };
    const server = serve({ env: { ...apiEnv(api), ...env } });
    await server.initialize();
    const alarms = new Map<boolean, boolean[]>([
      [true, []],
      [false, []],
    ]);
    for (let at = 0; at < claims.length; at += AT_ONCE) {
      const some = claims.slice(at, at + AT_ONCE);
      const text = some.map(({ claim, url }) => `- ${claim} ([page.test](${url}))`).join('\n');
      api.replyAlways(answers(text, { citations: some.map(({ url }) => ({ url, title: 'A' })) }));
      const { citations } = answerOf(await server.callTool('answer', { query: `Question ${at}?` }));
      for (const { url, isTrue } of some)
        alarms.get(isTrue)?.push(/"missing"/.test(JSON.stringify(citations.find((citation) => citation.url === url))));
    }
    const share = (isTrue: boolean) => {
      const found = alarms.get(isTrue) ?? [];
      return found.filter(Boolean).length / found.length;
    };
    expect(share(false)).toBeGreaterThanOrEqual(0.8);
    expect(share(true)).toBeLessThanOrEqual(0.03);
  },
);
