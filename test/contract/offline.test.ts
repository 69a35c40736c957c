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
import { zonedDate } from '../../src/domain/values/zoned-date.ts';
import { toApiResponse } from '../support/api-response.ts';
import { answerEvents, toSse } from '../support/api-stream.ts';
import { answers, answersJson, type Behaviour, cutsStream, fails, sendsBody } from '../support/behaviours.ts';
import { startFakeApi } from '../support/fake-api.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { posixTest } from '../support/platform.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { redactorOf } from '../support/redactor.ts';
import { API_KEY, type Asked, answerOf, ask, errorOf, openAiSearch, replyOf, searchRequest } from './search-kit.ts';

const SHIPPED = fileURLToPath(new URL('../../recordings', import.meta.url));

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'contract-offline-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

function offline(path: string): OfflineSearch {
  return new OfflineSearch({
    path: path,
    clock: FakeClock.instant(),
    logger: new RecordingLogger(),
    redactor: createRedactor(),
  });
}

function asking(query: string, tool: Question['tool'] = 'answer', asked: Asked = {}): SearchRequest {
  return searchRequest({ ...asked, question: { query, tool } });
}

interface Shipped {
  readonly file: string;
  readonly question: string;
  readonly tool: Question['tool'];
  readonly day: string;
}

const SHIPPED_QUESTIONS: readonly Shipped[] = readdirSync(SHIPPED).map((file) => {
  const text = readFileSync(join(SHIPPED, file), 'utf8');
  const comment = (name: string) => new RegExp(`^: ${name}: (.*)$`, 'm').exec(text)?.[1] ?? '';
  return {
    file,
    question: comment('question'),
    tool: comment('tool') as Question['tool'],
    day: comment('recorded_at').slice(0, 10),
  };
});

describe('the shipped recordings', () => {
  test.each(SHIPPED_QUESTIONS)('$file answers its question with its tool', async ({ file, question, tool, day }) => {
    const request = asking(question, tool, { today: '2031-01-01' });
    const outcome = await ask(offline(SHIPPED), request);
    const { answer, citations } = answerOf(outcome, request)._unsafeUnwrap();
    expect(answer.length).toBeGreaterThan(20);
    expect(replyOf(outcome).report.model).toMatch(/^gpt-/);
    expect(answer).not.toContain('2031');
    if (replyOf(outcome).searched) {
      expect(answer).toMatch(/^Sources:$/m);
      expect(new Set(citations.map(({ published_at }) => published_at))).toEqual(new Set([day]));
    } else {
      expect(citations).toEqual([]);
    }
    if (file.includes('cut')) expect(replyOf(outcome).ending.kind).toBe('incomplete');
    else expect(replyOf(outcome).ending.kind).toBe(file.includes('refused') ? 'refused' : 'complete');
    expect(answer).toMatch(/[ぁ-ん]/.test(question) ? /[ぁ-ん]/ : /[a-z]/);
  });

  test('contain an answer with a search and one without, for every tool', () => {
    expect(new Set(SHIPPED_QUESTIONS.map(({ tool }) => tool))).toEqual(
      new Set(['answer', 'answer_detailed', 'answer_quick']),
    );
  });

  test('contain nothing that looks like a key', () => {
    for (const { file } of SHIPPED_QUESTIONS) {
      expect(readFileSync(join(SHIPPED, file), 'utf8')).not.toMatch(/(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{8}/);
    }
  });

  test('a question that is not recorded fails and lists the recorded questions', async () => {
    const error = errorOf(await ask(offline(SHIPPED), asking('Who am I?')));
    if (error.kind !== 'not_recorded') throw new Error(error.kind);
    expect([...error.recorded].sort()).toEqual([...new Set(SHIPPED_QUESTIONS.map(({ question }) => question))].sort());
  });
});

describe('matching a question', () => {
  test.each(['what does http 404 mean', '本日 2031-12-31 の東京の天気は？'])('%j is recorded', async (query) => {
    expect((await ask(offline(SHIPPED), asking(query))).isOk()).toBe(true);
  });

  test.each(['What does HTTP 405 mean?', 'What does HTTP 404 mean? And 500?', 'HTTP 404', '?'])(
    '%j is not',
    async (query) => {
      expect(errorOf(await ask(offline(SHIPPED), asking(query))).kind).toBe('not_recorded');
    },
  );

  test('prefers the recording of the same tool, otherwise uses that of another', async () => {
    write('a.sse', { question: 'Why?', tool: 'answer' }, 'By answer.');
    write('b.sse', { question: 'Why?', tool: 'answer_quick' }, 'By answer_quick.');
    const textOf = async (tool: Question['tool']) => replyOf(await ask(offline(folder), asking('why', tool))).text;
    expect(await textOf('answer_quick')).toBe('By answer_quick.');
    expect(await textOf('answer')).toBe('By answer.');
    expect(await textOf('answer_detailed')).toBe('By answer.');
  });

  test('finds recordings in JSON too, and ignores other files', async () => {
    const response = toApiResponse({ text: 'From JSON.', options: {} }, { body: {}, number: 1 });
    writeFileSync(
      join(folder, 'a.json'),
      JSON.stringify({ recording: { question: 'Why?', tool: 'answer' }, ...response }),
    );
    writeFileSync(join(folder, 'notes.txt'), 'no recording');
    writeFileSync(join(folder, 'broken.json'), '{');
    mkdirSync(join(folder, 'folder'));
    expect(replyOf(await ask(offline(folder), asking('why'))).text).toBe('From JSON.');
  });

  test('a reply without a question in a folder answers nothing and is not listed', async () => {
    writeFileSync(join(folder, 'a.sse'), events('Whose is this?').map(toSse).join(''));
    expect(errorOf(await ask(offline(folder), asking('why')))).toEqual({ kind: 'not_recorded', recorded: [] });
  });

  test('a folder that does not exist is reported as unreadable', async () => {
    const path = join(folder, 'nowhere');
    const error = errorOf(await ask(offline(path), asking('why')));
    expect(error).toEqual({ kind: 'unreadable_recordings', path, detail: 'ENOENT' });
  });
});

describe('one file answers every question', () => {
  test('an incomplete recording is an error of the file, not of the network', async () => {
    const path = join(folder, 'cut.sse');
    writeFileSync(path, `: question: Why?\n\n${events('Whose is this?').slice(0, 3).map(toSse).join('')}`);
    for (const recordings of [path, folder]) {
      const error = errorOf(await ask(offline(recordings), asking('why')));
      expect(error).toEqual({ kind: 'unreadable_recordings', path, detail: 'the stream ended too early' });
    }
  });

  test('a failure is not retried, since the recording does not change', async () => {
    const clock = FakeClock.instant();
    const path = join(folder, 'limit.json');
    writeFileSync(path, '{"status":429,"error":{"code":"rate_limit_exceeded","message":"Slow down."}}');
    const search = new OfflineSearch({
      path,
      clock,
      logger: new RecordingLogger(),
      redactor: createRedactor(),
    });
    expect(errorOf(await ask(search))).toMatchObject({ kind: 'rate_limited', attempts: 1 });
    expect(clock.slept).toEqual([]);
  });
});

describe('the dates of a recording', () => {
  const CITED = { citations: [{ url: 'https://http.dev/404', title: '404' }] };

  async function citedOn(names: Readonly<Record<string, string>>, createdAt: unknown): Promise<string | undefined> {
    const comments = Object.entries(names).map(([name, value]) => `: ${name}: ${value}\n`);
    const body = events('See 404.', CITED).map(toSse).join('');
    const dated = body.replaceAll(/"created_at":\d+/g, `"created_at":${JSON.stringify(createdAt)}`);
    writeFileSync(join(folder, 'a.sse'), `${comments.join('')}\n${dated}`);
    const request = asking('Why?', 'answer', { today: '2031-01-01' });
    return answerOf(await ask(offline(folder), request), request)._unsafeUnwrap().citations[0]?.published_at;
  }

  test('are those of its creation, in Tokyo', async () => {
    const seconds = Date.parse('2026-03-01T15:00:00Z') / 1000;
    expect(await citedOn({ question: 'Why?' }, seconds)).toBe('2026-03-02');
    expect(await citedOn({ question: 'Why?' }, seconds - 1)).toBe('2026-03-01');
  });

  test('are those of recorded_at if the reply does not state when it was created', async () => {
    expect(await citedOn({ question: 'Why?', recorded_at: '2026-03-01T15:00:00Z' }, 0)).toBe('2026-03-02');
  });

  test('are those of today if nothing states another', async () => {
    expect(await citedOn({ question: 'Why?' }, 0)).toBe('2031-01-01');
    expect(await citedOn({ question: 'Why?' }, null)).toBe('2031-01-01');
  });
});

describe('recording', () => {
  const SEARCHED = {
    citations: [{ url: 'https://nodejs.org/en/blog?utm_source=openai', title: '🎉 Node.js' }],
    sources: [{ url: 'https://nodejs.org/en/blog' }, { name: 'oai-weather' }],
  };

  async function record(behaviour: Behaviour, request = asking('What’s new?\n— in Node.js 24'), apiKey = API_KEY) {
    const api = await startFakeApi();
    const redactor = redactorOf(apiKey);
    const logger = new RecordingLogger();
    const clock = FakeClock.instant();
    const recorder = folderRecorder({ recordPrivate: false, folder, clock, logger, redactor });
    api.reply(behaviour);
    const outcome = await ask(openAiSearch(api.url, { recorder, apiKey, redactor, maxRetries: 0 }), request);
    await api.close();
    return { outcome, request, logger };
  }

  /** The replies of the fake API have this date. */
  const TODAY = zonedDate(new Date(createdAt() * 1000), 'Asia/Tokyo');

  test.each([
    ['a stream', answers('Node 24 ([x](https://nodejs.org/en/blog?utm_source=openai)) 🎉 です。', SEARCHED), '.sse'],
    [
      'one JSON body',
      answersJson('Node 24 ([x](https://nodejs.org/en/blog?utm_source=openai)) 🎉 です。', SEARCHED),
      '.json',
    ],
    ['an answer that quotes a body', answers('Send {"model":"x","instructions": "Be brief."} to it.'), '.sse'],
    ['a refusal', answers('', { refusal: 'I cannot help with that.' }), '.sse'],
    ['an incomplete answer', answers('Node 24 is', { incomplete: 'max_output_tokens' }), '.sse'],
  ])('%s gives the same answer offline', async (_name, behaviour, ending) => {
    const asked = { ...asking('What’s new?\n— in Node.js 24'), today: TODAY };
    const { outcome, request } = await record(behaviour, asked);
    expect(readdirSync(folder)).toEqual([expect.stringMatching(new RegExp(`^answer-.*\\${ending}$`))]);
    const again = await ask(offline(folder), { ...request, today: '2031-01-01' });
    expect(answerOf(again, { ...request, today: '2031-01-01' })).toEqual(answerOf(outcome, request));
    expect(replyOf(again)).toEqual({ ...replyOf(outcome), accessedOn: TODAY });
  });

  test('lists the question among the recorded ones', async () => {
    await record(answers('Hello.'));
    const error = errorOf(await ask(offline(folder), asking('Something else')));
    expect(error).toEqual({ kind: 'not_recorded', recorded: ['What’s new? — in Node.js 24'] });
  });

  posixTest('modes')('writes files that only their owner can read', async () => {
    await record(answers('Hello.'));
    const [file = ''] = readdirSync(folder);
    expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
  });

  test('writes no key and no header, whatever the question or the API contains', async () => {
    const key = 'gateway-key-0123456789';
    await record(answers(`Your key is ${key}.`, { chunks: 1 }), asking('What is my key?'), key);
    await record(answersJson(`Your key is ${key}.`), asking('What is my key, in JSON?'), key);
    await record(answers('A question with a key.'), asking(`What is ${key}?`), key);
    expect(readdirSync(folder)).toHaveLength(3);
    const texts = readdirSync(folder).map((file) => `${file}\n${readFileSync(join(folder, file), 'utf8')}`);
    for (const text of texts) expect(text).not.toMatch(/gateway-key|0123456789|authorization|bearer/i);
  });

  test('writes no key in pieces, or in another spelling', async () => {
    const key = 'gateway/key/0123456789';
    const said = `Your key is ${key}.`;
    await record(answers(said, { chunks: 12 }), asking('In pieces?'), key);
    const output = [{ type: 'message', content: [{ type: 'output_text', text: said }] }];
    const response = { output, echo: { [key]: 1, authorization: `Bearer ${key}` } };
    const data = JSON.stringify({ type: 'response.completed', response }).replaceAll('/', '\\/');
    const stream = `: ${key}\nevent: response.completed\ndata: ${data}\n\n`;
    await record(sendsBody({ body: stream }), asking('Escaped?'), key);
    expect(readdirSync(folder)).toHaveLength(2);
    for (const file of readdirSync(folder)) {
      const text = readFileSync(join(folder, file), 'utf8');
      const deltas = [...text.matchAll(/"delta":"((?:[^"\\\\]|\\\\.)*)"/g)].map(([, delta]) => delta).join('');
      expect(text + deltas).not.toMatch(/gateway|0123456789/);
      expect(text).toContain('Your key is [redacted].');
    }
  });

  test.each([answers('Hello.'), answersJson('Hello.')])(
    'writes no instructions, which the API repeats ($kind)',
    async (behaviour) => {
      await record(behaviour);
      const [file = ''] = readdirSync(folder);
      expect(readFileSync(join(folder, file), 'utf8')).not.toContain('Answer well.');
    },
  );

  test('the same question of two callers at once is recorded once, without a warning', async () => {
    const both = await Promise.all([record(answers('One.'), asking('Why?')), record(answers('Two.'), asking('Why?'))]);
    expect(readdirSync(folder)).toEqual([expect.stringMatching(/^answer-why-[0-9a-f]{8}\.sse$/)]);
    expect(both.flatMap(({ logger }) => logger.lines)).toEqual([]);
  });

  test('a recording that cannot be completed leaves no file', async () => {
    await record(answers('Hello.'), asking('Why?'));
    const [file = ''] = readdirSync(folder);
    rmSync(join(folder, file));
    mkdirSync(join(folder, file));
    const { logger } = await record(answers('Hello.'), asking('Why?'));
    expect(logger.lines).toEqual([expect.stringMatching(/^warn .*could not be recorded/)]);
    expect(readdirSync(folder)).toEqual([file]);
  });

  test('the same question overwrites its recording, that of another tool does not', async () => {
    await record(answers('First.'), asking('Why?'));
    await record(answers('Second.'), asking('  WHY'));
    expect(readdirSync(folder)).toHaveLength(1);
    expect(replyOf(await ask(offline(folder), asking('why'))).text).toBe('Second.');
    await record(answers('Quick.'), asking('Why?', 'answer_quick'));
    expect(readdirSync(folder)).toHaveLength(2);
  });

  test('questions that differ only in characters of file names do not overwrite each other', async () => {
    await record(answers('一。'), asking('東京は？'));
    await record(answers('二。'), asking('大阪は？'));
    expect(replyOf(await ask(offline(folder), asking('東京は'))).text).toBe('一。');
    expect(replyOf(await ask(offline(folder), asking('大阪は'))).text).toBe('二。');
  });

  test.each<[string, Behaviour]>([
    ['an HTTP error', fails({ status: 400, error: { message: 'No.', type: 'x', param: null, code: null } })],
    ['an incomplete stream', cutsStream()],
  ])('%s is not recorded', async (_name, behaviour) => {
    expect((await record(behaviour)).outcome.isErr()).toBe(true);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('a folder that cannot be written to causes a warning, and the answer is returned', async () => {
    const path = folder;
    folder = join(folder, 'a-file', 'below');
    writeFileSync(join(path, 'a-file'), '');
    const { outcome, logger } = await record(answers('Hello.'));
    folder = path;
    expect(replyOf(outcome).text).toBe('Hello.');
    expect(logger.lines).toEqual([expect.stringMatching(/^warn .*could not be recorded.*ENOTDIR/)]);
  });
});

/** The events of a streamed reply, as the fake API sends them. */
function events(text: string, options: Parameters<typeof answers>[1] = {}) {
  return answerEvents({ text, options }, { body: { include: ['web_search_call.action.sources'] }, number: 1 });
}

function createdAt(): number {
  return Number(toApiResponse({ text: 'x', options: {} }, { body: {}, number: 1 }).created_at);
}

function write(file: string, names: Readonly<Record<string, string>>, text: string): void {
  const comments = Object.entries(names).map(([name, value]) => `: ${name}: ${value}\n`);
  writeFileSync(join(folder, file), `${comments.join('')}\n${events(text).map(toSse).join('')}`);
}
