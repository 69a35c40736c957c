import { describe, expect, test } from 'vitest';
import { toCheckResult } from '../../../../../src/adapters/inbound/mcp/check-presentation.ts';
import type { SourcesReport } from '../../../../../src/application/check/sources-report.ts';

const url = (at: number) => `https://page.test/page/${at}`;
const link = (at: number, state: 'ok' | 'dead') => ({
  url: url(at),
  places: [{ line: at + 1, column: 1 }],
  state,
  status: state === 'ok' ? 200 : 404,
});
const EMPTY: SourcesReport = { links: [], claims: [], quotes: [], skipped: [] };

// N4.10
describe('the report of the tool', () => {
  const links = Array.from({ length: 90 }, (_, at) => link(at, at < 20 ? 'ok' : 'dead'));
  const report = { ...EMPTY, links };

  test('for models has a text of at most 2,000 characters, with the line that sums up', () => {
    const shown = String(toCheckResult(report, 'A text.', false).content[0]?.text);
    expect(shown.length).toBeLessThanOrEqual(2000);
    expect(shown).toMatch(/^- \S+ \S+: not found \(HTTP 404\)\n- and \d+ more\n\n90 links: 20 read, 70 not found$/m);
  });

  test('for models has JSON of at most 2,000 characters, with findings first and the number of the others', () => {
    const { structuredContent } = toCheckResult(report, 'A text.', false);
    expect(JSON.stringify(structuredContent).length).toBeLessThanOrEqual(2000);
    expect(structuredContent).toMatchObject({ findings: 70, summary: '90 links: 20 read, 70 not found' });
    const { links, omitted = 0 } = { omitted: 0, ...structuredContent };
    expect(links.length).toBeGreaterThan(9);
    expect(links.map((one) => 'state' in one && one.state)).toEqual(links.map(() => 'dead'));
    expect(links[0]).toMatchObject({ url: url(20), line: 21 });
    expect(links.length + omitted).toBe(90);
  });

  test('for models names what was not read before what was', () => {
    const pages = [
      link(0, 'ok'),
      { ...link(1, 'ok'), state: 'unreadable' as const, reason: 'http_403' },
      link(2, 'dead'),
    ];
    const { structuredContent } = toCheckResult({ ...EMPTY, links: pages }, 'A text.', false);
    expect(structuredContent.links).toMatchObject([{ state: 'dead' }, { state: 'unreadable' }, { state: 'ok' }]);
    expect(structuredContent).not.toHaveProperty('omitted');
  });

  test('for programs is complete, in the order of the text', () => {
    const { structuredContent } = toCheckResult(report, 'A text.', true);
    expect(structuredContent.links).toHaveLength(90);
    expect(structuredContent.links[0]).toMatchObject({ url: url(0), state: 'ok' });
  });
});
