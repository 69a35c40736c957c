import { expect, test } from 'vitest';
import { ask, startCore } from '../../../support/core.ts';
import { FakeCitedPages } from '../../../support/fake-cited-pages.ts';
import { FakeLlmSearch, replies } from '../../../support/fake-llm-search.ts';

const A = 'https://a.example/';
const B = 'https://b.example/';
const TEXT = `It has 42 parts [A](${A}).\n\nIt weighs 17 kg [B](${B}).`;

const page = (visible: string) =>
  ({ state: 'ok', status: 200, text: async () => ({ visible, other: [], isCut: false }) }) as const;

function start(pages: FakeCitedPages) {
  const sources = { cited: [{ url: A }, { url: B }], consulted: [], opened: [] };
  const llmSearch = new FakeLlmSearch(replies({ text: TEXT, searched: true, sources }));
  return startCore({ llmSearch, citedPages: pages, config: { timeoutMs: 10_000, citationCheck: 'evidence' } });
}

// S51
test('citations have the evidence of their pages', async () => {
  const { app } = start(new FakeCitedPages({ [A]: page('It has 43 parts.'), [B]: page('It weighs 18 kg.') }));
  const { result, report } = (await app.answerQuery(ask()))._unsafeUnwrap();
  expect(result.citations).toMatchObject([
    { url: A, evidence: { missing: ['42'] } },
    { url: B, evidence: { missing: ['17'] } },
  ]);
  // Texts of pages are not kept.
  expect(JSON.stringify({ result: { ...result, citations: [] }, report })).not.toMatch(/43|18/);
});
