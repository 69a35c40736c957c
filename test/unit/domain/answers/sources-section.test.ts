import { describe, expect, test } from 'vitest';
import { sourcesSection, splitSources } from '../../../../src/domain/answers/sources-section.ts';
import { cpuMs } from '../../../support/cpu-time.ts';

describe('splitting', () => {
  test('separates the sources from the text, without their bullets', () => {
    expect(splitSources('Sunny.\n\nSources:\n- https://a.com (2026-01-01)\n* oai-weather', ['oai-weather'])).toEqual({
      body: 'Sunny.',
      entries: ['https://a.com (2026-01-01)', 'oai-weather'],
    });
  });

  test('recognizes consulted ids as sources', () => {
    const text = 'Sunny.\n\n## Sources\noai-weather\n\nMore?';
    expect(splitSources(text, ['oai-weather'])).toEqual({ body: 'Sunny.\n\nMore?', entries: ['oai-weather'] });
  });

  test('separates any number of sources', () => {
    const text = `Sources:\n${'- https://a.jp\n'.repeat(150_000)}`;
    expect(splitSources(text, []).entries).toHaveLength(150_000);
  });

  test('leaves a text without sources unchanged', () => {
    expect(splitSources('Sunny.\n\n\n\nWarm.', [])).toEqual({ body: 'Sunny.\n\n\n\nWarm.', entries: [] });
  });

  test('leaves the blank lines of code unchanged', () => {
    const code = '```python\nimport os\n\n\ndef a(): ...\n```';
    expect(splitSources(`${code}\n\nSources:\n- https://a.com`, []).body).toBe(code);
  });

  test('leaves one blank line where the sources were', () => {
    const text = 'Sunny.\n\n\nSources:\n- https://a.com\n\n\n\nMore?\n\n\nNo.';
    expect(splitSources(text, []).body).toBe('Sunny.\n\nMore?\n\n\nNo.');
  });
});

test('reads a line of spaces in linear time', () => {
  const took = (spaces: number) => {
    const text = `Sources:\n${' '.repeat(spaces)}x https://a.jp/x`;
    return cpuMs(() => splitSources(text, []), 3);
  };
  took(1000);
  expect(took(40_000)).toBeLessThan(3 * took(20_000) + 5);
});

describe('the section', () => {
  test('contains what was listed, then what is missing, each with a date', () => {
    const citations = [
      { url: 'https://a.com', published_at: '2026-01-05' },
      { url: 'oai-weather', published_at: '2026-01-05' },
    ];
    expect(sourcesSection(['https://a.com 2025-12-31'], citations, '2026-01-05')).toBe(
      'Sources:\n- https://a.com 2025-12-31\n- oai-weather (2026-01-05)',
    );
  });

  test('names the search if no source has a name', () => {
    expect(sourcesSection([], [], '2026-01-05')).toBe('Sources:\n- web_search (2026-01-05)');
  });
});
