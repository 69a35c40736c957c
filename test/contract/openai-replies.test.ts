import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Citation } from '../../src/domain/answers/citation.ts';
import { answerOf, askFor, errorOf, searchRequest, TODAY } from './search-kit.ts';

interface Expectation {
  readonly outcome: 'answer' | 'refused' | 'incomplete' | 'failure';
  readonly failure?: string;
  readonly textIncludes?: string;
  readonly urls?: readonly string[];
  readonly ids?: readonly string[];
  readonly searched?: boolean;
}

interface Fixture {
  readonly file: string;
  readonly status: number;
  readonly contentType: string;
  readonly expect: Expectation;
}

const FOLDER = new URL('../fixtures/replies/', import.meta.url);
const FIXTURES = JSON.parse(readFileSync(new URL('INDEX.json', FOLDER), 'utf8')) as readonly Fixture[];
const MAX_CITATIONS = 10;

async function receive(fixture: Fixture, sliceLength?: number) {
  const body = readFileSync(new URL(fixture.file, FOLDER));
  const outcome = await askFor({ ...fixture, body, ...(sliceLength && { sliceLength }) });
  return { outcome, answer: answerOf(outcome, searchRequest(), MAX_CITATIONS) };
}

/** Pages first, then IDs; of the places, the first page gets one, then the IDs, then the other pages. */
function expectedSources({ urls = [], ids = [] }: Expectation): readonly string[] {
  const kept = ids.slice(0, MAX_CITATIONS - Math.min(1, urls.length));
  return [...urls.slice(0, MAX_CITATIONS - kept.length), ...kept];
}

function expectSources(answer: string, citations: readonly Citation[]): void {
  expect(answer.match(/^Sources:$/gm)).toHaveLength(1);
  const lines = answer.slice(answer.indexOf('\nSources:\n') + '\nSources:\n'.length).split('\n');
  for (const line of lines) expect(line).toMatch(/^- .*\d{4}-\d{2}-\d{2}/);
  for (const { url } of citations) expect(lines.join('\n')).toContain(url);
  if (citations.length === 0 && lines.length === 1) expect(lines).toEqual([expect.stringContaining(`(${TODAY})`)]);
}

test('fixtures exist', () => {
  expect(FIXTURES.length).toBeGreaterThanOrEqual(93);
});

test.each(FIXTURES.filter(({ expect: { outcome } }) => outcome === 'failure'))(
  '$file fails with $expect.failure',
  async (fixture) => {
    const { answer } = await receive(fixture);
    expect(errorOf(answer).kind).toBe(fixture.expect.failure);
  },
);

const read = FIXTURES.filter(({ expect: { outcome } }) => outcome !== 'failure');

test.each(read)('$file becomes: $expect.outcome', async (fixture) => {
  const { expect: expected } = fixture;
  const { outcome, answer } = await receive(fixture);
  const reply = outcome._unsafeUnwrap();
  const result = answer._unsafeUnwrap();
  expect(result.answer).toContain(expected.textIncludes);
  expect(reply.searched || result.citations.length > 0).toBe(expected.searched);
  expect(reply.ending.kind).toBe(expected.outcome === 'answer' ? 'complete' : expected.outcome);
  expect(result.citations.map(({ url }) => url)).toEqual(expectedSources(expected));
  expect(result.model).toBe('gpt-5.2');
  for (const { url, title, published_at, ...rest } of result.citations) {
    expect({ url: typeof url, published_at, rest }).toEqual({ url: 'string', published_at: TODAY, rest: {} });
    expect(title).not.toBe('');
  }
  expect(result.answer).not.toMatch(/utm_source=openai|[\uE200-\uE202]/);
  if (expected.searched) expectSources(result.answer, result.citations);
  else expect(result.answer).not.toMatch(/^Sources:/m);
  if (expected.outcome === 'incomplete')
    expect(result.answer).toMatch(/cut off at the output token limit \(max_output_tokens\)/);
});

describe('a stream that arrives byte by byte, so that characters are split', () => {
  test.each(read.filter(({ file }) => file.endsWith('.sse')))('$file is read completely', async (fixture) => {
    const { answer } = await receive(fixture, 1);
    expect(answer).toEqual((await receive(fixture)).answer);
    if (fixture.file.includes('emoji')) expect(answer._unsafeUnwrap().answer).toMatch(/\p{Extended_Pictographic}/u);
  });
});
