import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toRecordedBody } from '../../src/adapters/outbound/openai/recordings/recording.ts';
import { sendsBody } from '../support/behaviours.ts';
import { type FakeApi, startFakeApi } from '../support/fake-api.ts';
import { answerOf, ask, errorOf, openAiSearch, replyOf, searchRequest, TODAY } from './search-kit.ts';

/** Real replies are not part of the repository; an environment variable can name a folder of them. */
const FOLDER = process.env.RECORDINGS_DIR ?? '';
const FILES = FOLDER === '' ? [] : readdirSync(FOLDER).filter((name) => /\.(?:json|sse)$/.test(name));

if (FOLDER === '') process.stderr.write('openai-recordings: skipped, since RECORDINGS_DIR names no folder\n');

interface JsonObject {
  readonly [key: string]: unknown;
}

/** A recorded reply, read without the code under test. */
interface Recorded {
  readonly name: string;
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
  /** The response object, or the error envelope. */
  readonly final: JsonObject;
}

/** The replies of one file: one body or a list of them. */
function readRecorded(file: string): readonly Recorded[] {
  const body = readFileSync(join(FOLDER, file), 'utf8');
  const status = Number(/--error-(\d{3})--/.exec(file)?.[1] ?? 200);
  if (file.endsWith('.sse')) {
    const final = eventsOf(body).findLast(({ type }) =>
      /^response\.(?:completed|incomplete|failed)$/.test(String(type)),
    );
    return [
      { name: file, status, contentType: 'text/event-stream; charset=utf-8', body, final: toObject(final?.response) },
    ];
  }
  const parsed: unknown = JSON.parse(body);
  const bodies = Array.isArray(parsed) ? parsed : [parsed];
  return bodies.map((each, index) => ({
    name: bodies.length > 1 ? `${file} [${index}]` : file,
    status,
    contentType: 'application/json',
    body: bodies.length > 1 ? JSON.stringify(each) : body,
    final: toObject(each),
  }));
}

function eventsOf(body: string): readonly JsonObject[] {
  return body.split(/\r?\n/).flatMap((line) => (line.startsWith('data:') ? [toObject(JSON.parse(line.slice(5)))] : []));
}

function toObject(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? (value as JsonObject) : {};
}

function listOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.map(toObject) : [];
}

/** What a reply contains, collected by walking over its JSON. */
function walk({ final }: Recorded) {
  const output = listOf(final.output);
  const messages = output.filter(({ type }) => type === 'message');
  const isPhased = messages.some(({ phase }) => phase === 'final_answer');
  const answering = messages.filter(({ phase }) => (isPhased ? phase === 'final_answer' : phase !== 'commentary'));
  const parts = answering.flatMap(({ content }) => listOf(content));
  const calls = output.filter(({ type }) => type === 'web_search_call');
  const actions = calls.map(({ action }) => toObject(action));
  const sources = actions.flatMap((action) => listOf(action.sources));
  const cited = parts.flatMap(({ annotations }) => listOf(annotations)).filter(({ type }) => type === 'url_citation');
  return {
    texts: answering.map(({ content }) =>
      listOf(content)
        .map(({ text, refusal }) => text ?? refusal ?? '')
        .join(''),
    ),
    isRefused: parts.some(({ type }) => type === 'refusal'),
    isCut: final.status === 'incomplete',
    searched: calls.length > 0,
    searches: actions.filter(({ type }) => type !== 'open_page' && type !== 'find_in_page').length,
    cited: cited.map(({ url }) => String(url)),
    titles: cited.map(({ title }) => String(title)),
    consulted: sources.map(({ url, name }) => String(url ?? name)),
    opened: actions
      .filter(({ type, url }) => type !== 'search' && typeof url === 'string')
      .map(({ url }) => String(url)),
  };
}

/** `utm_source=openai` is added by the API and is not part of the page's URL. */
function untracked(url: string): string {
  return url.replace('?utm_source=openai&', '?').replace(/[?&]utm_source=openai$|[?&]utm_source=openai(?=[#&])/g, '');
}

function pagesOf(urls: readonly string[]): readonly string[] {
  const byPage = new Map<string, string>();
  for (const url of urls.map(untracked)) {
    const page = url.replace(/#.*/, '').replace(/\/$/, '');
    if (!byPage.has(page)) byPage.set(page, url);
  }
  return [...byPage.values()];
}

function expectedCitations(walked: ReturnType<typeof walk>, max: number): readonly string[] {
  const isPage = (source: string) => source.startsWith('http');
  const ids = [...new Set(walked.consulted.filter((source) => !isPage(source)))];
  const pages = pagesOf(
    walked.cited.length > 0 ? walked.cited : [...walked.consulted.filter(isPage), ...walked.opened],
  );
  const kept = ids.slice(0, max - Math.min(1, pages.length));
  return [...pages.slice(0, max - kept.length), ...kept];
}

function expectedFailure({ status, final }: Recorded): string {
  const error = toObject(final.error);
  if (error.code === 'model_not_found' || String(error.message).startsWith('Model not found')) return 'model_not_found';
  if (error.code === 'insufficient_quota') return 'quota_exhausted';
  return { 400: 'bad_request', 401: 'rejected_api_key', 500: 'server_error' }[status] ?? `status ${status}?`;
}

describe.skipIf(FILES.length === 0)('recorded replies', () => {
  let api: FakeApi;

  beforeAll(async () => {
    api = await startFakeApi();
  });

  afterAll(() => api.close());

  const recorded = FILES.flatMap(readRecorded);
  const request = searchRequest();

  async function receive({ status, contentType, body }: Recorded) {
    api.reply(sendsBody({ status, contentType, body }));
    return ask(openAiSearch(api.url, { maxRetries: 0 }), request);
  }

  test('include every kind', () => {
    const statuses = new Set(recorded.map(({ status }) => status));
    expect([...statuses].sort()).toEqual(expect.arrayContaining([200, 400, 401]));
    expect(recorded.some(({ name }) => name.endsWith('.sse'))).toBe(true);
  });

  const errors = recorded.filter(({ status }) => status !== 200);
  test.each(errors)('$name is reported as a failure', async (file) => {
    const error = errorOf(await receive(file));
    expect(error.kind).toBe(expectedFailure(file));
    if (file.status === 401) expect(JSON.stringify(error)).not.toMatch(/provided|key\./);
    else if ('detail' in error) expect(error.detail.slice(0, 40)).toBe(messageOf(file).slice(0, 40));
    else throw new Error(`No expectation for ${error.kind}`);
  });

  const silent = recorded.filter((file) => file.status === 200 && walk(file).texts.join('').trim() === '');
  test.each(silent)('$name has no text and is a failure', async (file) => {
    const error = errorOf(answerOf(await receive(file), request));
    const reason = toObject(file.final.incomplete_details).reason;
    expect(error).toEqual({ kind: 'empty_answer', ...(typeof reason === 'string' ? { reason } : {}) });
  });

  const speaking = recorded.filter((file) => file.status === 200 && !silent.includes(file));
  test.each(speaking)('$name is returned completely', async (file) => {
    const walked = walk(file);
    const outcome = await receive(file);
    const reply = replyOf(outcome);
    expect(reply.text).toBe(walked.texts.filter((text) => text !== '').join('\n\n'));
    expect(reply.searched).toBe(walked.searched);
    expect(reply.ending.kind).toBe(walked.isCut ? 'incomplete' : walked.isRefused ? 'refused' : 'complete');
    expect(reply.sources.cited.map(({ url }) => url)).toEqual(walked.cited);
    expect(reply.sources.cited.map(({ title }) => title)).toEqual(walked.titles);
    expect(reply.sources.consulted).toEqual(walked.consulted);
    expect(reply.sources.opened).toEqual(walked.opened);
    expect(reply.report).toMatchObject({ model: file.final.model, responseId: file.final.id, attempts: 1 });

    for (const max of [1, 3, 10]) {
      const result = answerOf(outcome, request, max)._unsafeUnwrap();
      const citations = expectedCitations(walked, max);
      expect(result.citations.map(({ url }) => url)).toEqual(citations);
      expect(result.citations.every(({ published_at }) => published_at === TODAY)).toBe(true);
      expect(result.used_search).toBe(walked.searched);
      expectWholeAnswer(result.answer, walked, citations);
    }
  });

  test.each(speaking)('$name gives the same reply from what is recorded of it', async (file) => {
    const body = toRecordedBody(file.body, (text) => text);
    expect(replyOf(await receive({ ...file, body }))).toEqual(replyOf(await receive(file)));
  });

  /** Every line of the text is in the answer, except tracking parameters and the heading of the sources. */
  function expectWholeAnswer(answer: string, walked: ReturnType<typeof walk>, citations: readonly string[]): void {
    const lines = walked.texts.join('\n\n').replaceAll('\r\n', '\n').split('\n');
    for (const line of lines) {
      const clean = line
        .replace(/\?utm_source=openai&/g, '?')
        .replace(/[?&]utm_source=openai/g, '')
        .trim();
      const isHeading = /^[#*_\s]*(?:sources?|references?|出典|参考)[^\p{L}]*$/iu.test(clean);
      if (!isHeading) expect(answer).toContain(clean.replace(/^[-*•]\s+/, ''));
    }
    expect(answer).not.toContain('utm_source=openai');
    if (!walked.searched) {
      expect(answer.match(/^Sources:$/gm)).toBeNull();
      return;
    }
    expect(answer.match(/^Sources:$/gm)).toHaveLength(1);
    const sources = answer.slice(answer.lastIndexOf('\nSources:\n') + '\nSources:\n'.length).split('\n');
    for (const line of sources) expect(line).toMatch(/^- .+\d{4}-\d{2}-\d{2}/);
    for (const url of citations) expect(sources.join('\n')).toContain(url.replace(/#.*/, '').replace(/\/$/, ''));
    if (walked.isCut) expect(answer).toMatch(/\[The answer was cut off.* \(\w+\)\.\]\n\nSources:\n/);
  }

  function messageOf({ final }: Recorded): string {
    return String(toObject(final.error).message).replace(/\s+/g, ' ').trim();
  }
});
