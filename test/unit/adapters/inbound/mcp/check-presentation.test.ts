import { expect, test } from 'vitest';
import { toCheckResult } from '../../../../../src/adapters/inbound/mcp/check-presentation.ts';

test('the text for models has at most 2,000 characters, with the line that sums up', () => {
  const url = (at: number) => `https://page.test/gone/${at}`;
  const links = Array.from({ length: 90 }, (_, at) => ({
    url: url(at),
    places: [{ line: at + 1, column: 1 }],
    state: 'dead' as const,
    status: 404 as const,
  }));
  const { content, structuredContent } = toCheckResult({ links, claims: [], skipped: [] }, 'A text.');
  const shown = String(content[0]?.text);
  expect(shown.length).toBeLessThanOrEqual(2000);
  expect(shown).toMatch(/^- \S+ \S+: not found \(HTTP 404\)\n- and \d+ more\n\n90 links: 0 read, 90 not found$/m);
  expect(structuredContent).toMatchObject({ findings: 90 });
});
