import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Citation } from '../../src/domain/answers/citation.ts';
import { inSlices, sendsBody } from '../support/behaviours.ts';
import { type FakeApi, startFakeApi } from '../support/fake-api.ts';
import { answerOf, ask, errorOf, openAiSearch, searchRequest, TODAY } from './search-kit.ts';

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
  readonly shape: string;
  readonly expect: Expectation;
}

const FOLDER = new URL('../fixtures/replies/', import.meta.url);
const FIXTURES = JSON.parse(readFileSync(new URL('INDEX.json', FOLDER), 'utf8')) as readonly Fixture[];
const MAX_CITATIONS = 10;

let api: FakeApi;

beforeAll(async () => {
  api = await startFakeApi();
});

afterAll(() => api.close());

function bytesOf({ file }: Fixture): Buffer {
  return readFileSync(new URL(file, FOLDER));
}

async function receive(fixture: Fixture, bytesPerWrite?: number) {
  const { status, contentType } = fixture;
  const complete = sendsBody({ status, contentType, body: bytesOf(fixture) });
  api.reply(bytesPerWrite === undefined ? complete : inSlices(complete, bytesPerWrite));
  const request = searchRequest();
  const outcome = await ask(openAiSearch(api.url, { maxRetries: 0 }), request);
  return { outcome, answer: answerOf(outcome, request, MAX_CITATIONS) };
}

/** Pages first, then ids; of the places, the first page gets one, then the ids, then the other pages. */
function expectedSources({ urls = [], ids = [] }: Expectation): readonly string[] {
  const places = MAX_CITATIONS - Math.min(1, urls.length);
  const kept = ids.slice(0, places);
  return [...urls.slice(0, MAX_CITATIONS - kept.length), ...kept];
}

function sourcesLines(answer: string): readonly string[] {
  const lines = answer.split('\n');
  return lines.slice(lines.lastIndexOf('Sources:') + 1);
}

function expectSources(answer: string, citations: readonly Citation[]): void {
  expect(answer.match(/^Sources:$/gm)).toHaveLength(1);
  const lines = sourcesLines(answer);
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) expect(line).toMatch(/^- .*\d{4}-\d{2}-\d{2}/);
  for (const { url } of citations) expect(lines.join('\n')).toContain(url);
  if (citations.length === 0 && lines.length === 1) expect(lines).toEqual([expect.stringContaining(`(${TODAY})`)]);
}

test('fixtures exist', () => {
  expect(FIXTURES.length).toBeGreaterThanOrEqual(93);
});

describe.each(FIXTURES)('$file', (fixture) => {
  const { expect: expected } = fixture;

  if (expected.outcome === 'failure') {
    test(`fails with ${expected.failure}`, async () => {
      const { answer } = await receive(fixture);
      expect(errorOf(answer).kind).toBe(expected.failure);
    });
    return;
  }

  test(`becomes: ${expected.outcome}`, async () => {
    const { outcome, answer } = await receive(fixture);
    const reply = outcome._unsafeUnwrap();
    const result = answer._unsafeUnwrap();
    expect(result.answer).toContain(expected.textIncludes);
    expect(reply.searched || result.citations.length > 0).toBe(expected.searched);
    expect(reply.ending.kind).toBe(expected.outcome === 'answer' ? 'complete' : expected.outcome);
    expect(result.citations.map(({ url }) => url)).toEqual(expectedSources(expected));
    expect(result.model).toBe('gpt-5.2');
    for (const citation of result.citations) {
      const { url, title, published_at, ...rest } = citation;
      expect({ url: typeof url, published_at, rest }).toEqual({ url: 'string', published_at: TODAY, rest: {} });
      expect(title).not.toBe('');
    }
    expect(result.answer).not.toMatch(/utm_source=openai|[\uE200-\uE202]/);
    if (expected.searched) expectSources(result.answer, result.citations);
    else expect(result.answer).not.toMatch(/^Sources:/m);
    if (expected.outcome === 'incomplete')
      expect(result.answer).toMatch(/cut off at the output token limit \(max_output_tokens\)/);
  });
});

describe('characters that are split between chunks', () => {
  const streams = FIXTURES.filter(({ file, expect: { outcome } }) => file.endsWith('.sse') && outcome !== 'failure');
  const emoji = FIXTURES.filter(({ file }) => file.includes('emoji'));

  test.each(streams)('$file is read completely in slices of 7 bytes', async (fixture) => {
    const [complete, sliced] = [await receive(fixture), await receive(fixture, 7)];
    expect(sliced.answer).toEqual(complete.answer);
  });

  test.each(emoji)('$file keeps every emoji in slices of one byte', async (fixture) => {
    const { answer } = await receive(fixture, 1);
    const text = answer._unsafeUnwrap().answer;
    const inFile = new Set(
      bytesOf(fixture)
        .toString('utf8')
        .match(/\p{Extended_Pictographic}/gu),
    );
    expect(inFile.size).toBeGreaterThan(0);
    expect([...inFile].filter((character) => text.includes(character)).length).toBeGreaterThan(0);
    expect(text).not.toMatch(/\uFFFD/);
    expect(text).toEqual((await receive(fixture)).answer._unsafeUnwrap().answer);
    expect(text.isWellFormed()).toBe(true);
  });

  test('some fixtures contain emoji', () => {
    expect(emoji.length).toBeGreaterThanOrEqual(2);
  });
});
