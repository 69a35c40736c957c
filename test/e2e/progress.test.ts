import { execFileSync } from 'node:child_process';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import {
  answers,
  type Behaviour,
  fails,
  holds,
  neverAnswers,
  sendsBody,
  stallsAfterHeaders,
  stallsMidStream,
} from '../support/behaviours.ts';
import { startCleanProcess } from '../support/clean-process.ts';
import type { JsonRpcMessage } from '../support/mcp-output.ts';
import type { McpProcess } from '../support/mcp-process.ts';
import { answerOf, apiEnv, BUILT_PROGRAM, failureOf, fakeApi, serve, serveWithApi, shareServer } from './serve.ts';

const isProgressOf = (token: unknown) => (message: JsonRpcMessage) =>
  message.method === 'notifications/progress' && message.params?.progressToken === token;

const progressOf = (server: McpProcess, token: unknown) => server.messages.filter(isProgressOf(token));
/** Without their seconds, which are shown from the first one on: a busy machine can reach it at any step. */
const messagesOf = (server: McpProcess, token: unknown) =>
  progressOf(server, token).map(({ params }) => String(params?.message).replace(/ · \d+ s$/, ''));

/** Waits for a progress message of a call. */
const reported = (server: McpProcess, token: unknown, words: RegExp) =>
  server.waitFor((message) => isProgressOf(token)(message) && words.test(String(message.params?.message)));

const rateLimited = (retryAfterMs: number): Behaviour =>
  fails({
    status: 429,
    error: { message: 'Slow down.', type: 'requests', param: null, code: 'rate_limit_exceeded' },
    headers: { 'retry-after-ms': String(retryAfterMs) },
  });

/** A complete stream: two searches, a page, an answer. */
function searchesAndReads(): Behaviour {
  const call = (action: object) => ({ type: 'web_search_call', id: 'ws', status: 'completed', action });
  const items = [
    call({ type: 'search', query: 'tokyo weather today', queries: ['tokyo weather today', '東京 天気'] }),
    call({ type: 'open_page', url: 'https://tenki.jp/forecast/?utm_source=openai' }),
    call({ type: 'find_in_page', url: 'https://jma.go.jp/', pattern: 'rain' }),
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Sunny.', annotations: [] }] },
  ];
  const events = [
    ...items.map((item, output_index) => ({ type: 'response.output_item.done', output_index, item })),
    { type: 'response.completed', response: { id: 'resp_1', status: 'completed', output: items } },
  ];
  return sendsBody({
    body: events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''),
  });
}

const shared = shareServer();

describe('a call that asks for progress', () => {
  test('receives at once that the model is asked, before the API has responded', async () => {
    const { api, server } = await serveWithApi();
    api.replyAlways(neverAnswers());
    void server.callTool('answer', { query: 'Who?' }, { progressToken: 'a token' }, 1);
    await server.waitFor(isProgressOf('a token'));
    expect(server.messages[0]).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: {
        progressToken: 'a token',
        progress: 1,
        message: expect.stringMatching(/^Asking the model( · \d+ s)?$/),
      },
    });
  });

  test('receives each query and each page, joined, in order, before the answer', async () => {
    const { api, server } = shared();
    api.replyAlways(searchesAndReads());
    expect(
      answerOf(await server.callTool('answer', { query: 'The weather?' }, { progressToken: 7 }, 1)).answer,
    ).toMatch(/^Sunny\./);
    expect(messagesOf(server, 7).join(' · ')).toBe(
      [
        'Asking the model',
        'Searched: tokyo weather today',
        'Searched: 東京 天気',
        'Opened: https://tenki.jp/forecast/',
        'Opened: https://jma.go.jp/',
      ].join(' · '),
    );
    expect(server.messages.at(-1)?.id).toBe(1);
  });

  test('receives the current step: a query, while the model continues', async () => {
    const { api, server } = await serveWithApi();
    // Until the search has ended.
    api.replyAlways(stallsMidStream(7, answers('Sunny.', { search: 'tokyo weather today' })));
    void server.callTool('answer', { query: 'The weather?' }, { progressToken: 1 }, 1);
    await reported(server, 1, /^Searched: tokyo weather today$/);
  });

  test('receives the number of characters written', async () => {
    const { api, server } = await serveWithApi();
    api.replyAlways(stallsMidStream(6, answers('123456789 123456789 ', { chunks: 4 })));
    void server.callTool('answer', { query: 'Count.' }, { progressToken: 1 }, 1);
    await reported(server, 1, /^Writing \(10 characters\)/);
  });

  test('receives a retry, with its reason and delay', async () => {
    const { api, server } = shared();
    api.reply(rateLimited(2000), answers('At last.'));
    const answer = await server.callTool('answer', { query: 'q' }, { progressToken: 1 }, 1);
    expect(answerOf(answer).answer).toBe('At last.');
    expect(messagesOf(server, 1)).toContain('Rate limited; retrying in 2 s');
  });

  test('receives only the latest of several retries', async () => {
    const { api, server } = shared();
    api.reply(answers('Loaded.'), rateLimited(40), rateLimited(60), answers('At last.'));
    await server.callTool('answer', { query: 'loads the API client' });
    await server.callTool('answer', { query: 'q' }, { progressToken: 1 }, 'call');
    expect(messagesOf(server, 1)).toEqual(['Asking the model', 'Rate limited; retrying in 60 ms']);
  });

  test('receives its position in the queue, also when it changes, and that the model is asked', async () => {
    const { api, server } = await serveWithApi({ env: { OPENAI_MAX_CONCURRENCY: '1' } });
    const held = [holds(), holds()];
    api.reply(...held);
    void server.callTool('answer', { query: 'the first' }, {}, 1);
    await api.waitForRequests(1);
    void server.callTool('answer', { query: 'the second' }, { progressToken: 'second' }, 2);
    void server.callTool('answer', { query: 'the third' }, { progressToken: 'third' }, 3);
    await reported(server, 'second', /^Waiting for a free slot/);
    await reported(server, 'third', /^Waiting in the queue \(1 ahead\)/);
    expect(api.requests).toHaveLength(1);
    held[0]?.release(answers('First.'));
    await reported(server, 'second', /^Asking the model · \d+ s$/);
    await reported(server, 'third', /^Waiting for a free slot/);
    expect(api.requests).toHaveLength(2);
  });

  test('receives messages in the language of the question', async () => {
    const { api, server } = shared();
    api.replyAlways(searchesAndReads());
    await server.callTool('answer', { query: '今日の天気は？' }, { progressToken: 1 }, 1);
    await server.callTool('answer', { query: '北京今天的天气' }, { progressToken: 2 }, 2);
    expect(messagesOf(server, 1).join('\n')).toMatch(
      /^モデルに尋ねています\n検索: tokyo weather today · 検索: 東京 天気 · ページを開きました: https:\/\/tenki\.jp\/forecast\/ · /,
    );
    // Chinese characters without kana are not Japanese.
    expect(messagesOf(server, 2)[0]).toBe('Asking the model');
  });

  test('receives lines with growing numbers, short and without a total', async () => {
    const { api, server } = shared();
    api.reply(rateLimited(1000), rateLimited(1000), searchesAndReads());
    await server.callTool('answer', { query: 'q' }, { progressToken: 1 }, 1);
    const params = progressOf(server, 1).map(({ params }) => params ?? {});
    expect(params.length).toBeGreaterThanOrEqual(3);
    expect(params.map(({ progress }) => progress)).toEqual(params.map((_, index) => index + 1));
    for (const each of params) {
      expect(Object.keys(each)).toEqual(['progressToken', 'progress', 'message']);
      expect(String(each.message)).toMatch(/^\S.{0,198}\S$/u);
    }
  });

  test('receives the same in the revision 2026-07-28', async () => {
    const { api, server } = shared();
    api.replyAlways(searchesAndReads());
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
      progressToken: 0,
    };
    await server.callTool('answer', { query: 'The weather?' }, meta, 0);
    expect(messagesOf(server, 0)[0]).toBe('Asking the model');
    expect(messagesOf(server, 0).join()).toContain('Opened: https://tenki.jp/forecast/');
    expect(server.messages.at(-1)).toMatchObject({ id: 0, result: { resultType: 'complete' } });
  });
});

test.for([[0], [''], ['0'], [-7], ['long'.repeat(50)]])('the token %j is returned unchanged', async ([token]) => {
  const { api, server } = shared();
  api.replyAlways(answers('Yes.'));
  await server.callTool('answer', { query: 'q' }, { progressToken: token }, 1);
  expect(server.notifications.map(({ params }) => params?.progressToken)).toEqual([token]);
});

test('parallel calls receive only their own progress', async () => {
  const { api, server } = await serveWithApi();
  api.replyAlways(neverAnswers());
  for (const [id, token] of [0, '0', ''].entries()) {
    void server.callTool('answer', { query: `question ${id}` }, { progressToken: token }, id);
  }
  for (const token of [0, '0', '']) await server.waitFor(isProgressOf(token));
  expect(server.messages).toHaveLength(3);
});

test.for([
  ['no _meta', undefined],
  ['an empty _meta', {}],
  ['null', { progressToken: null }],
  ['true', { progressToken: true }],
  ['an object', { progressToken: {} }],
] as const)('nothing is sent without a token: %s', async ([, meta]) => {
  const { api, server } = shared();
  api.replyAlways(searchesAndReads());
  await server.callTool('answer', { query: 'q' }, meta, 1);
  expect(server.messages.map(({ id }) => id)).toEqual([1]);
});

describe('no progress is sent', () => {
  /** The second line of another call comes one second later: any other line would have arrived by then. */
  const aSecondLater = async (server: McpProcess) => {
    void server.callTool('answer', { query: 'Another one?' }, { progressToken: 'later' }, 'later');
    await reported(server, 'later', /^Thinking/);
  };
  const anotherThinks = stallsMidStream(1);

  test('after the answer', async () => {
    const { api, server } = await serveWithApi();
    api.reply(searchesAndReads(), anotherThinks);
    await server.callTool('answer', { query: 'q' }, { progressToken: 1 }, 1);
    const before = progressOf(server, 1).length;
    await aSecondLater(server);
    expect(progressOf(server, 1)).toHaveLength(before);
  });

  test('after a failure', async () => {
    const { api, server } = await serveWithApi();
    api.reply(fails({ status: 403, error: { message: 'No.', type: 'x', param: null, code: null } }), anotherThinks);
    expect(failureOf(await server.callTool('answer', { query: 'q' }, { progressToken: 1 }, 1))).toContain('403');
    const before = progressOf(server, 1).length;
    await aSecondLater(server);
    expect(progressOf(server, 1)).toHaveLength(before);
  });

  test.for([
    ['before headers', neverAnswers()],
    ['after headers', stallsAfterHeaders()],
    ['in the middle of the stream', stallsMidStream()],
  ] as const)('after a cancellation %s', async ([, behaviour]) => {
    const { api, server } = await serveWithApi();
    api.reply(behaviour, anotherThinks);
    void server.callTool('answer', { query: 'q' }, { progressToken: 1 }, 'cancelled');
    await api.waitForRequests(1);
    server.notify('notifications/cancelled', { requestId: 'cancelled' });
    await server.request('ping');
    const before = progressOf(server, 1).length;
    await api.waitForAbort(0);
    await aSecondLater(server);
    expect(progressOf(server, 1)).toHaveLength(before);
    expect(server.messages.some(({ id }) => id === 'cancelled')).toBe(false);
  });

  test('of a call with invalid arguments, but the reason', async () => {
    const server = serve();
    const { error } = await server.callTool('answer', { query: ' ' }, { progressToken: 1 }, 1);
    expect(error?.code).toBe(-32602);
    expect(server.notifications).toEqual([]);
  });
});

describe('ask on a terminal', () => {
  const isPossible = hasPseudoTerminals();
  beforeEach(({ skip }) => skip(!isPossible, 'there is no command "script" of util-linux, which starts a terminal'));

  test.for([
    ['of 90 columns', 'stty cols 90; '],
    ['that does not report its width', 'stty cols 0; '],
  ] as const)('shows the current step and the elapsed time, and then only the answer: %s', async ([, prepare]) => {
    const api = await fakeApi();
    api.replyAlways(searchesAndReads());
    const shown = await onTerminal(
      `${prepare}exec ${process.execPath} ${BUILT_PROGRAM} ask 'The weather?'`,
      apiEnv(api),
    );
    const frames = shown.split('\r\u001B[2K');
    const steps = frames.map((frame) => frame.replace(/^\d+ s {2}/, ''));
    expect(steps).toContain('Asking the model');
    expect(steps).toContain('Searched: tokyo weather today');
    expect(steps).toContain('Opened: https://tenki.jp/forecast/');
    expect(frames[1]).toMatch(/^\d+ s {2}\S/);
    expect(frames.at(-1)).toMatch(/^Sunny\.\r\n\r\nSources:\r\n/);
  });
});

/** Whether util-linux's `script` is installed, which runs a command on a separate terminal. */
function hasPseudoTerminals(): boolean {
  try {
    return execFileSync('script', ['--version'], { encoding: 'utf8' }).includes('util-linux');
  } catch {
    return false;
  }
}

/** What a command wrote to its terminal. */
async function onTerminal(command: string, env: Readonly<Record<string, string>>): Promise<string> {
  const program = `
    const { spawn } = require('node:child_process');
    spawn('script', ['-qec', ${JSON.stringify(command)}, '/dev/null'], { stdio: ['ignore', 'inherit', 'inherit'] });`;
  const { child, exited, removeHome } = startCleanProcess([program], { env, program: '-e', timeoutMs: 30_000 });
  onTestFinished(removeHome);
  let shown = '';
  child.stdout.on('data', (bytes: Buffer) => {
    shown += bytes.toString();
  });
  await exited;
  return shown;
}
