import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { folderRecorder } from '../../src/adapters/outbound/openai/recordings/folder-recorder.ts';
import { OfflineSearch } from '../../src/adapters/outbound/openai/recordings/offline-search.ts';
import type { SearchRequest } from '../../src/application/ports/llm-search.ts';
import type { Question } from '../../src/domain/answers/question.ts';
import { createRedactor } from '../../src/domain/values/redaction.ts';
import { responseBody } from '../support/api-response.ts';
import { responseEvents, toSse } from '../support/api-stream.ts';
import { answers, type Behaviour, cutsStream, fails, responds, sendsBody } from '../support/behaviours.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { posixTest } from '../support/platform.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { redactorOf } from '../support/redactor.ts';
import {
  API_KEY,
  type Asked,
  answerOf,
  apiPerTest,
  ask,
  errorOf,
  never,
  openAiSearch,
  ProgressLog,
  replyOf,
  searchRequest,
} from './search-kit.ts';

const SHIPPED = fileURLToPath(new URL('../../recordings', import.meta.url));

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'contract-offline-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

function offline(path: string, clock = FakeClock.instant()): OfflineSearch {
  return new OfflineSearch({ path, clock, logger: new RecordingLogger(), redactor: createRedactor() });
}

function asking(query: string, tool: Question['tool'] = 'answer', asked: Asked = {}): SearchRequest {
  return searchRequest({ ...asked, question: { query, tool } });
}

/** The bytes of a stream, as the fake API sends them, below comments with these names. */
function recordingOf(text: string, names: Readonly<Record<string, string>> = {}, options = {}): string {
  const comments = Object.entries(names).map(([name, value]) => `: ${name}: ${value}\n`);
  const events = responseEvents(answers(text, options).response, { body: {}, number: 1 });
  return `${comments.join('')}\n${toSse(...events)}`;
}

const write = (file: string, text: string) => writeFileSync(join(folder, file), text);
const read = (file: string) => readFileSync(join(folder, file), 'utf8');

describe('the shipped recordings', () => {
  const QUESTIONS = readdirSync(SHIPPED).map((file) => {
    const text = readFileSync(join(SHIPPED, file), 'utf8');
    const comment = (name: string) => new RegExp(`^: ${name}: (.*)$`, 'm').exec(text)?.[1] ?? '';
    const day = comment('recorded_at').slice(0, 10);
    return { file, question: comment('question'), tool: comment('tool') as Question['tool'], day };
  });

  test.each(QUESTIONS)('$file answers its question with its tool', async ({ file, question, tool, day }) => {
    const request = asking(question, tool, { today: '2031-01-01' });
    const outcome = await ask(offline(SHIPPED), request);
    const { answer, citations } = answerOf(outcome, request)._unsafeUnwrap();
    const { report, searched, ending } = replyOf(outcome);
    expect(answer.length).toBeGreaterThan(20);
    expect(report.model).toMatch(/^gpt-/);
    expect(answer).not.toContain('2031');
    expect(/^Sources:$/m.test(answer)).toBe(searched);
    expect(new Set(citations.map(({ published_at }) => published_at))).toEqual(new Set(searched ? [day] : []));
    const expected = file.includes('cut') ? 'incomplete' : file.includes('refused') ? 'refused' : 'complete';
    expect(ending.kind).toBe(expected);
    expect(answer).toMatch(/[ぁ-ん]/.test(question) ? /[ぁ-ん]/ : /[a-z]/);
  });

  test('a question that differs in form and date is answered', async () => {
    expect((await ask(offline(SHIPPED), asking('本日 2031-12-31 の東京の天気は？'))).isOk()).toBe(true);
  });

  const ENGLISH = QUESTIONS.filter(({ file }) => !/-ja\.|cut|refused/.test(file)).map(({ question }) => question);

  // S47
  test.each([
    ['What does HTTP 405 mean?', 'What does HTTP 404 mean?'],
    ['How can I pick the lock of my front door?', expect.not.stringMatching(/lock|door|neighbour/)],
  ])('the question %j gets five others that have complete answers, in its language', async (query, first) => {
    const error = errorOf(await ask(offline(SHIPPED), asking(query)));
    if (error.kind !== 'not_recorded') throw new Error(error.kind);
    expect(error.others).toBe(4);
    expect(error.offered[0]).toEqual(first);
    expect([...error.offered].sort()).toEqual([...ENGLISH].sort());
  });

  test('a question in Japanese gets those in Japanese first', async () => {
    const error = errorOf(await ask(offline(SHIPPED), asking('大阪の天気は？')));
    if (error.kind !== 'not_recorded') throw new Error(error.kind);
    expect(error.offered).toHaveLength(5);
    expect(error.offered.slice(0, 2)).toEqual(['本日 2026-11-20 の東京の天気は？', 'HTTP 404 の意味は？']);
  });
});

describe('a folder of recordings', () => {
  test('answers with the recording of the same tool, otherwise with that of another', async () => {
    write('a.sse', recordingOf('By answer.', { question: 'Why?', tool: 'answer' }));
    write('b.sse', recordingOf('By answer_quick.', { question: 'Why?', tool: 'answer_quick' }));
    const textOf = async (tool: Question['tool']) => replyOf(await ask(offline(folder), asking('why', tool))).text;
    expect(await textOf('answer_quick')).toBe('By answer_quick.');
    expect(await textOf('answer')).toBe('By answer.');
    expect(await textOf('answer_detailed')).toBe('By answer.');
  });

  test('may contain recordings in JSON, and other files, which are ignored', async () => {
    const response = responseBody(answers('From JSON.').response, { body: {}, number: 1 });
    write('a.json', JSON.stringify({ recording: { question: 'Why?', tool: 'answer' }, ...response }));
    write('notes.txt', 'no recording');
    write('broken.json', '{');
    mkdirSync(join(folder, 'folder'));
    expect(replyOf(await ask(offline(folder), asking('why'))).text).toBe('From JSON.');
  });

  test('that has a reply without a question does not list that, and answers nothing with it', async () => {
    write('a.sse', recordingOf('Whose is this?'));
    const nothing = { kind: 'not_recorded', offered: [], others: 0 };
    expect(errorOf(await ask(offline(folder), asking('why')))).toEqual(nothing);
  });

  test('that has a failure, a broken reply or a refusal in the last round offers none of these questions', async () => {
    const refusal = { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] };
    const refused = { type: 'response.completed', response: { id: 'r', status: 'completed', output: [refusal] } };
    const round = recordingOf('First.', { question: 'A refused one?', tool: 'answer' });
    write('a.sse', `${round}${toSse({ type: 'response.created' }, refused)}`);
    write('b.json', '{"recording":{"question":"A limited one?"},"status":429,"error":{"code":"rate_limit_exceeded"}}');
    write('c.sse', recordingOf('x', { question: 'A broken one?' }).replace(CUT, ''));
    write('d.sse', recordingOf('Fine.', { question: 'A good one?', tool: 'answer_quick' }));
    const offered = { kind: 'not_recorded', offered: ['A good one?'], others: 3 };
    expect(errorOf(await ask(offline(folder), asking('What?')))).toEqual(offered);
  });

  test('that does not exist is reported as unreadable', async () => {
    const path = join(folder, 'nowhere');
    const error = errorOf(await ask(offline(path), asking('why')));
    expect(error).toEqual({ kind: 'unreadable_recordings', path, detail: 'ENOENT' });
  });
});

/** The end of a recording from within its message: what ends after a complete message is an answer. */
const CUT = /event: response\.(?:output_text|content_part|output_item)\.done.*/s;

describe('a recording', () => {
  test('that is incomplete is an error of its file, not of the network', async () => {
    const path = join(folder, 'cut.sse');
    write('cut.sse', recordingOf('Whose is this?', { question: 'Why?' }).replace(CUT, ''));
    for (const recordings of [path, folder]) {
      const error = errorOf(await ask(offline(recordings), asking('why')));
      expect(error).toEqual({ kind: 'unreadable_recordings', path, detail: 'the stream ended too early' });
    }
  });

  test('of a failure is not tried again, since it does not change', async () => {
    const clock = FakeClock.instant();
    write('limit.json', '{"status":429,"error":{"code":"rate_limit_exceeded","message":"Slow down."}}');
    const error = errorOf(await ask(offline(join(folder, 'limit.json'), clock)));
    expect(error).toMatchObject({ kind: 'rate_limited', attempts: 1 });
    expect(clock.slept).toEqual([]);
  });

  const AT = { recorded_at: '2026-03-01T15:00:00Z' };
  const SECONDS = Date.parse(AT.recorded_at) / 1000;

  test.each([
    ['its creation, in Tokyo', {}, SECONDS, '2026-03-02'],
    ['its creation, in Tokyo, a second earlier', AT, SECONDS - 1, '2026-03-01'],
    ['recorded_at if the reply does not state when it was created', AT, 0, '2026-03-02'],
    ['today if nothing states another', {}, null, '2031-01-01'],
  ])('has the day of %s', async (_what, names, createdAt, day) => {
    const citations = [{ url: 'https://http.dev/404', title: '404' }];
    const text = recordingOf('See 404.', { question: 'Why?', ...names }, { citations });
    write('a.sse', text.replaceAll(/"created_at":\d+/g, `"created_at":${createdAt}`));
    const request = asking('Why?', 'answer', { today: '2031-01-01' });
    const { citations: cited } = answerOf(await ask(offline(folder), request), request)._unsafeUnwrap();
    expect(cited.map(({ published_at }) => published_at)).toEqual([day]);
  });
});

describe('a recorded conversation', () => {
  const EXAMPLE = readFileSync(new URL('../../examples/grounded.sse', import.meta.url), 'utf8');

  /** The turn that a recording contains for a round. */
  function turn(recording: string, round: number) {
    write('recording.sse', recording);
    const rounds = Array.from({ length: round }, () => ({ items: [], outputs: [] }));
    const mode = { functions: [], mayCall: true, web: 'open', rounds } as const;
    const search = offline(join(folder, 'recording.sse'));
    return search.search({ ...searchRequest(), mode }, new ProgressLog(), never());
  }

  test('is replayed round by round', async () => {
    const [first, second] = [await turn(EXAMPLE, 0), await turn(EXAMPLE, 1)].map((turn) => turn._unsafeUnwrap());
    expect(first?.calls).toMatchObject([{ name: 'notes__search_notes', arguments: '{"word":"deploy"}' }]);
    expect(first?.text).toBe('');
    expect(second?.calls).toEqual([]);
    expect(second).toMatchObject({ accessedOn: '2026-11-20', text: expect.stringContaining('on Tuesdays') });
  });

  test.each([
    ['too few rounds', EXAMPLE, 2],
    ['a round without its end', EXAMPLE.slice(0, EXAMPLE.lastIndexOf('event: response.output_text.done')), 1],
  ])('with %s is reported as such, and not as a failed connection', async (_what, recording, round) => {
    const path = join(folder, 'recording.sse');
    expect(errorOf(await turn(recording, round))).toMatchObject({ kind: 'unreadable_recordings', path });
  });
});

describe('recording', () => {
  const api = apiPerTest();

  async function record(behaviour: Behaviour, request = asking('What’s new?\n— in Node.js 24'), apiKey = API_KEY) {
    const redactor = redactorOf(apiKey);
    const logger = new RecordingLogger();
    const recorder = folderRecorder({ recordPrivate: false, folder, clock: FakeClock.instant(), logger, redactor });
    api.reply(behaviour);
    const outcome = await ask(openAiSearch(api.url, { recorder, apiKey, redactor, maxRetries: 0 }), request);
    return { outcome, logger };
  }

  const inJson = (text: string, options = {}) => responds({ ...answers(text, options).response, isJson: true });

  const URL_OF_API = 'https://nodejs.org/en/blog?utm_source=openai';
  const TEXT = `Node 24 ([x](${URL_OF_API})) 🎉 です。`;
  const SEARCHED = {
    citations: [{ url: URL_OF_API, title: '🎉 Node.js' }],
    sources: [{ url: 'https://nodejs.org/en/blog' }, { name: 'oai-weather' }],
  };

  test.each([
    ['a stream', answers(TEXT, SEARCHED), 'sse'],
    ['one JSON body', inJson(TEXT, SEARCHED), 'json'],
    ['an answer that quotes a body', answers('Send {"model":"x","instructions": "Be brief."} to it.'), 'sse'],
    ['a refusal', answers('', { refusal: 'I cannot help with that.' }), 'sse'],
    ['an incomplete answer', answers('Node 24 is', { incomplete: 'max_output_tokens' }), 'sse'],
  ])('%s gives the same answer offline, and contains no instructions', async (_name, behaviour, ending) => {
    // The day of the replies of the fake API.
    const request = { ...asking('What’s new?\n— in Node.js 24'), today: '2026-01-19' };
    const { outcome } = await record(behaviour, request);
    const [file = '', ...others] = readdirSync(folder);
    expect([file, others]).toEqual([expect.stringMatching(new RegExp(`^answer-.*\\.${ending}$`)), []]);
    // The API repeats them.
    expect(read(file)).not.toContain('Answer well.');
    const later = { ...request, today: '2031-01-01' };
    const again = await ask(offline(folder), later);
    expect(answerOf(again, later)).toEqual(answerOf(outcome, request));
    expect(replyOf(again)).toEqual({ ...replyOf(outcome), accessedOn: '2026-01-19' });
  });

  posixTest('modes')('writes files that only their owner can read', async () => {
    await record(answers('Hello.'));
    const [file = ''] = readdirSync(folder);
    expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
  });

  test('writes no key: not in a name, whole, in pieces, or in another spelling', async () => {
    const key = 'gateway/key/0123456789';
    const said = `Your key is ${key}.`;
    const response = {
      output: [{ type: 'message', content: [{ type: 'output_text', text: said }] }],
      echo: { [key]: 1, authorization: `Bearer ${key}` },
    };
    const escaped = toSse({ type: 'response.completed', response }).replaceAll('/', '\\/');
    await record(answers(said, { chunks: 1 }), asking('Whole?'), key);
    await record(inJson(said), asking('In JSON?'), key);
    await record(answers(said, { chunks: 12 }), asking('In pieces?'), key);
    await record(sendsBody({ body: `: ${key}\n${escaped}` }), asking('Escaped?'), key);
    await record(answers(said), asking(`What is ${key}?`), key);
    expect(readdirSync(folder)).toHaveLength(5);
    for (const file of readdirSync(folder)) {
      const text = read(file);
      const deltas = [...text.matchAll(/"delta":"([^"]*)"/g)].map(([, delta]) => delta).join('');
      expect(file + text + deltas).not.toMatch(/gateway|0123456789/);
      expect(text).toContain('Your key is [redacted].');
    }
  });

  test('the same question of two callers at once is recorded once, without a warning', async () => {
    const both = await Promise.all([record(answers('One.'), asking('Why?')), record(answers('Two.'), asking('Why?'))]);
    expect(readdirSync(folder)).toEqual([expect.stringMatching(/^answer-why-[0-9a-f]{8}\.sse$/)]);
    expect(both.flatMap(({ logger }) => logger.lines)).toEqual([]);
  });

  test('a recording that cannot be completed leaves no file, and causes a warning; the answer is returned', async () => {
    await record(answers('Hello.'), asking('Why?'));
    const [file = ''] = readdirSync(folder);
    rmSync(join(folder, file));
    mkdirSync(join(folder, file));
    const { outcome, logger } = await record(answers('Hello.'), asking('Why?'));
    expect(replyOf(outcome).text).toBe('Hello.');
    expect(logger.lines).toEqual([expect.stringMatching(/^warn .*could not be recorded/)]);
    expect(readdirSync(folder)).toEqual([file]);
  });

  test('only the same question to the same tool overwrites a recording', async () => {
    const textOf = async (query: string) => replyOf(await ask(offline(folder), asking(query))).text;
    await record(answers('First.'), asking('Why?'));
    await record(answers('Second.'), asking('  WHY'));
    expect(readdirSync(folder)).toHaveLength(1);
    expect(await textOf('why')).toBe('Second.');
    await record(answers('Quick.'), asking('Why?', 'answer_quick'));
    expect(readdirSync(folder)).toHaveLength(2);
    // These differ only in characters that no name of a file has.
    await record(answers('一。'), asking('東京は？'));
    await record(answers('二。'), asking('大阪は？'));
    expect([await textOf('東京は'), await textOf('大阪は')]).toEqual(['一。', '二。']);
  });

  test.each<[string, Behaviour]>([
    ['an HTTP error', fails({ status: 400 })],
    ['an incomplete stream', cutsStream()],
  ])('%s is not recorded', async (_name, behaviour) => {
    expect((await record(behaviour)).outcome.isErr()).toBe(true);
    expect(readdirSync(folder)).toEqual([]);
  });
});
