import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { toRecordedBody } from '../../src/adapters/outbound/openai/recordings/recording.ts';
import type { JsonObject } from '../support/api-response.ts';
import { toList, toObject } from '../support/recorded-loops.ts';
import { answerOf, askFor, errorOf, type Received, replyOf, searchRequest, TODAY } from './search-kit.ts';

/** Real replies are not part of the repository; an environment variable can name a folder of them. */
const FOLDER = process.env.RECORDINGS_DIR ?? '';
const FILES = FOLDER === '' ? [] : readdirSync(FOLDER).filter((name) => /\.(?:json|sse)$/.test(name));

if (FOLDER === '') process.stderr.write('openai-recordings: skipped, since RECORDINGS_DIR names no folder\n');

/** A recorded reply, read without the code under test. */
interface Recorded extends Received {
  readonly name: string;
  readonly body: string;
  /** The response object, or the error envelope. */
  readonly final: JsonObject;
}

/** The replies of one file: one body or a list of them. */
function readRecorded(name: string): readonly Recorded[] {
  const body = readFileSync(join(FOLDER, name), 'utf8');
  const status = Number(/--error-(\d{3})--/.exec(name)?.[1] ?? 200);
  if (name.endsWith('.sse')) {
    const lines = body.split(/\r?\n/).filter((line) => line.startsWith('data:'));
    const ends = lines
      .map((line) => toObject(JSON.parse(line.slice(5))))
      .filter(({ type }) => /^response\.(?:completed|incomplete|failed)$/.test(String(type)));
    return [{ name, status, contentType: 'text/event-stream', body, final: toObject(ends.at(-1)?.response) }];
  }
  const parsed: unknown = JSON.parse(body);
  return (Array.isArray(parsed) ? parsed : [parsed]).map((each, index) => ({
    name: `${name} [${index}]`,
    status,
    contentType: 'application/json',
    body: JSON.stringify(each),
    final: toObject(each),
  }));
}

/** What a reply contains, collected by walking over its JSON. */
function walk({ final }: Recorded) {
  const output = toList(final.output);
  const messages = output.filter(({ type }) => type === 'message');
  const isPhased = messages.some(({ phase }) => phase === 'final_answer');
  const answering = messages.filter(({ phase }) => (isPhased ? phase === 'final_answer' : phase !== 'commentary'));
  const parts = answering.flatMap(({ content }) => toList(content));
  const calls = output.filter(({ type }) => type === 'web_search_call');
  const actions = calls.map(({ action }) => toObject(action));
  const sources = actions.flatMap((action) => toList(action.sources));
  const cited = parts.flatMap(({ annotations }) => toList(annotations)).filter(({ type }) => type === 'url_citation');
  return {
    texts: answering.map(({ content }) =>
      toList(content)
        .map(({ text, refusal }) => text ?? refusal ?? '')
        .join(''),
    ),
    isRefused: parts.some(({ type }) => type === 'refusal'),
    isCut: final.status === 'incomplete',
    searched: calls.length > 0,
    cited: cited.map(({ url }) => String(url)),
    titles: cited.map(({ title }) => String(title)),
    consulted: sources.map(({ url, name }) => String(url ?? name)),
    opened: actions
      .filter(({ type, url }) => type !== 'search' && typeof url === 'string')
      .map(({ url }) => String(url)),
  };
}

/** `utm_source=openai` is added by the API and is no part of the text or of the URL of a page. */
function untracked(text: string): string {
  return text.replaceAll('?utm_source=openai&', '?').replaceAll(/[?&]utm_source=openai/g, '');
}

function expectedFailure({ status, final }: Recorded): string {
  const error = toObject(final.error);
  if (error.code === 'model_not_found' || String(error.message).startsWith('Model not found')) return 'model_not_found';
  if (error.code === 'insufficient_quota') return 'quota_exhausted';
  return { 400: 'bad_request', 401: 'rejected_api_key', 500: 'server_error' }[status] ?? `status ${status}?`;
}

describe.skipIf(FILES.length === 0)('recorded replies', () => {
  const recorded = FILES.flatMap(readRecorded);
  const request = searchRequest();

  test('include every kind', () => {
    const statuses = new Set(recorded.map(({ status }) => status));
    expect([...statuses].sort()).toEqual(expect.arrayContaining([200, 400, 401]));
    expect(recorded.some(({ name }) => name.endsWith('.sse'))).toBe(true);
  });

  const errors = recorded.filter(({ status }) => status !== 200);
  test.each(errors)('$name is reported as a failure', async (file) => {
    const error = errorOf(await askFor(file));
    expect(error.kind).toBe(expectedFailure(file));
    if (file.status === 401) expect(JSON.stringify(error)).not.toMatch(/provided|key\./);
    else if ('detail' in error) expect(error.detail.slice(0, 40)).toBe(messageOf(file).slice(0, 40));
    else throw new Error(`No expectation for ${error.kind}`);
  });

  const silent = recorded.filter((file) => file.status === 200 && walk(file).texts.join('').trim() === '');
  test.each(silent)('$name has no text and is a failure', async (file) => {
    const error = errorOf(answerOf(await askFor(file), request));
    const reason = toObject(file.final.incomplete_details).reason;
    expect(error).toEqual({ kind: 'empty_answer', ...(typeof reason === 'string' ? { reason } : {}) });
  });

  const speaking = recorded.filter((file) => file.status === 200 && !silent.includes(file));
  test.each(speaking)('$name is returned completely', async (file) => {
    const walked = walk(file);
    const outcome = await askFor(file);
    const reply = replyOf(outcome);
    expect(reply.text).toBe(walked.texts.filter((text) => text !== '').join('\n\n'));
    expect(reply.searched).toBe(walked.searched);
    expect(reply.ending.kind).toBe(walked.isCut ? 'incomplete' : walked.isRefused ? 'refused' : 'complete');
    expect(reply.sources.cited.map(({ url }) => url)).toEqual(walked.cited);
    expect(reply.sources.cited.map(({ title }) => title)).toEqual(walked.titles);
    expect(reply.sources.consulted).toEqual(walked.consulted);
    expect(reply.sources.opened).toEqual(walked.opened);
    expect(reply.report).toMatchObject({ model: file.final.model, responseId: file.final.id, attempts: 1 });

    const { answer, citations, used_search: usedSearch } = answerOf(outcome, request)._unsafeUnwrap();
    const sources = walked.cited.length > 0 ? walked.cited : [...walked.consulted, ...walked.opened];
    expect(citations.length).toBeGreaterThanOrEqual(Math.min(1, sources.length));
    for (const { url, published_at } of citations) {
      expect([...sources, ...walked.consulted].map(untracked)).toContain(url);
      expect(published_at).toBe(TODAY);
    }
    expect(usedSearch).toBe(walked.searched);
    expectWholeAnswer(
      answer,
      walked,
      citations.map(({ url }) => url),
    );
  });

  test.each(speaking)('$name gives the same reply from what is recorded of it', async (file) => {
    const body = toRecordedBody(file.body, (text) => text);
    expect(replyOf(await askFor({ ...file, body }))).toEqual(replyOf(await askFor(file)));
  });

  /** Every line of the text is in the answer, except tracking parameters and the heading of the sources. */
  function expectWholeAnswer(answer: string, walked: ReturnType<typeof walk>, citations: readonly string[]): void {
    const lines = walked.texts.join('\n\n').replaceAll('\r\n', '\n').split('\n');
    for (const line of lines) {
      const clean = untracked(line).trim();
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
