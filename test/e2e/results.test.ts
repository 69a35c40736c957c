import { describe, expect, test } from 'vitest';
import { answers, type Behaviour, fails, sendsBody } from '../support/behaviours.ts';
import type { JsonRpcMessage } from '../support/mcp-output.ts';
import { runCli } from '../support/run-cli.ts';
import { newFile } from './files.ts';
import { answerOf, apiEnv, fakeApi, serve, serveWithApi, shareServer, textOf } from './serve.ts';

const REPORT = 'io.github.uchimanajet7.openai-responses-mcp/report';

const MODERN = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** A complete reply, with everything that the API reports about it. */
function reported(): Behaviour {
  const call = (action: object) => ({ type: 'web_search_call', id: 'ws', status: 'completed', action });
  const output = [
    call({ type: 'search', queries: ['tokyo weather', '東京 天気'], query: 'tokyo weather' }),
    call({ type: 'search', query: 'tokyo rain' }),
    call({ type: 'open_page', url: 'https://tenki.jp/' }),
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Sunny.', annotations: [] }] },
  ];
  const usage = {
    input_tokens: 12_345,
    input_tokens_details: { cached_tokens: 1024 },
    output_tokens: 678,
    output_tokens_details: { reasoning_tokens: 256 },
    total_tokens: 13_023,
  };
  const response = { id: 'resp_abc', model: 'gpt-5.2-2025-12-11', status: 'completed', output, usage };
  return sendsBody({ body: `data: ${JSON.stringify({ type: 'response.completed', response })}\n\n` });
}

const failsOnce = fails({
  status: 500,
  error: { message: 'Oops.', type: 'server_error', param: null, code: null },
  headers: { 'retry-after-ms': '1' },
});
const refused = fails({ status: 403, error: { message: 'No.', type: 'x', param: null, code: null } });

const EXPECTED_REPORT = {
  model: 'gpt-5.2-2025-12-11',
  response_id: 'resp_abc',
  usage: { input_tokens: 12_345, cached_tokens: 1024, output_tokens: 678, reasoning_tokens: 256 },
  searches: { count: 2, queries: ['tokyo weather', '東京 天気', 'tokyo rain'] },
  attempts: 2,
  seconds: expect.any(Number),
};

const shared = shareServer();

describe('the report of an answer', () => {
  test('is in the _meta of the result', async () => {
    const { api, server } = shared();
    api.reply(failsOnce, reported());
    const startedAt = performance.now();
    const { result } = await server.callTool('answer', { query: 'The weather?' });
    const seconds = (performance.now() - startedAt) / 1000;
    const meta = result?._meta as Record<string, { seconds: number }>;
    expect(meta).toEqual({ [REPORT]: EXPECTED_REPORT });
    expect(meta[REPORT]?.seconds).toBeGreaterThan(0);
    expect(meta[REPORT]?.seconds).toBeLessThanOrEqual(seconds);
  });

  test("is next to the server's name in the revision 2026-07-28", async () => {
    const { api, server } = shared();
    api.reply(failsOnce, reported());
    const { result } = await server.callTool('answer', { query: 'The weather?' }, MODERN);
    expect(result?._meta).toEqual({
      [REPORT]: EXPECTED_REPORT,
      'io.modelcontextprotocol/serverInfo': { name: 'openai-responses-mcp', version: expect.any(String) },
    });
  });

  test('omits what the API does not report', async () => {
    const { api, server } = shared();
    const output = [{ type: 'message', content: [{ type: 'output_text', text: 'Yes.' }] }];
    api.reply(sendsBody({ contentType: 'application/json', body: JSON.stringify({ output }) }));
    const { result } = await server.callTool('answer', { query: 'q' });
    const report = { searches: { count: 0, queries: [] }, attempts: 1, seconds: expect.any(Number) };
    expect(result?._meta).toEqual({ [REPORT]: report });
  });

  test('is not part of the JSON of the contract', async () => {
    const { api, server } = shared();
    api.reply(reported());
    expect(Object.keys(answerOf(await server.callTool('answer', { query: 'q' })))).toEqual([
      'answer',
      'used_search',
      'citations',
      'model',
    ]);
  });

  test('is printed by ask --verbose, separately from the answer', async () => {
    const api = await fakeApi();
    api.reply(failsOnce, reported());
    const { code, stdout, stderr } = await runCli(['ask', '--verbose', 'The weather?'], { env: apiEnv(api) });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^Sunny\.\n\nSources:\n/) });
    expect(stderr).toMatch(/^\d+\.\d s · .*\n$/);
  });

  test.for([[['--json']], [['--json', '--verbose']]])('is in the output of ask %j', async ([options = []]) => {
    const api = await fakeApi();
    api.reply(failsOnce, reported());
    const { stdout, stderr } = await runCli(['ask', ...options, 'The weather?'], { env: apiEnv(api) });
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toMatchObject({ model: 'gpt-5.2', used_search: true, report: EXPECTED_REPORT });
  });

  test('is one line per call in the debug log, without question or queries', async () => {
    const { api, server } = await serveWithApi({ env: { DEBUG: '1' } });
    api.reply(failsOnce, reported(), reported());
    await server.callTool('answer', { query: 'A question of mine' });
    await server.callTool('answer_quick', { query: 'A question of mine' });
    server.closeStdin();
    await server.exited;
    const usage = server
      .stderr()
      .split('\n')
      .filter((line) => line.includes('answer: usage'));
    expect(usage).toHaveLength(2);
    expect(usage[0]).toMatch(
      /answer: usage model=gpt-5\.2-2025-12-11 response=resp_abc input=12345 cached=1024 reasoning=256 output=678 searches=2 attempts=2 seconds=\d+\.\d+$/,
    );
    expect(usage[1]).toContain('attempts=1');
    expect(usage.join()).not.toMatch(/A question of mine|tokyo weather/);
  });
});

describe('structured content', () => {
  test.for([
    ['legacy', undefined],
    ['modern', MODERN],
  ] as const)('equals the JSON of the text: %s', async ([, meta]) => {
    const { api, server } = shared();
    const url = 'https://example.com/a?b=1&c="2"';
    api.reply(answers('引用 "quoted"\n\n\u2028 done 😀', { citations: [{ url, title: 'T & "t"' }] }));
    const response = await server.callTool('answer', { query: 'q' }, meta);
    expect(response.result?.structuredContent).toEqual(JSON.parse(textOf(response)));
    expect(response.result?.content).toHaveLength(1);
    expect(response.result?.isError ?? false).toBe(false);
  });

  test.for([
    ['as JSON-RPC errors', 'protocol', undefined],
    ['as results', 'result', undefined],
    ['as results, in the revision 2026-07-28', 'protocol', MODERN],
  ] as const)('is absent in a failure: failures %s', async ([, toolErrors, meta]) => {
    const config = newFile('config.yaml', `server: {tool_errors: ${toolErrors}}\n`);
    const { api, server } = await serveWithApi({ args: ['--stdio', '--config', config] });
    api.reply(refused);
    const failed: JsonRpcMessage[] = [
      await server.callTool('answer', { query: 'q' }, meta),
      await server.callTool('answer', { query: '' }, meta),
    ];
    for (const message of failed) {
      expect(message.error !== undefined || message.result?.isError === true).toBe(true);
      expect(JSON.stringify(message)).not.toContain('structuredContent');
    }
  });
});

describe('tools/list', () => {
  test.for([
    ['legacy', {}],
    ['modern', { _meta: MODERN }],
  ] as const)('is one line of less than 5 kB (ruling A14): %s', async ([, params]) => {
    const config = newFile('config.yaml', 'server: {max_answer_chars: 100000000}\n');
    for (const args of [['--stdio'], ['--stdio', '--config', config]]) {
      const server = serve({ args });
      await server.request('tools/list', params);
      const lines = server.stdout.split('\n').filter((line) => line !== '');
      expect(lines).toHaveLength(1);
      expect(Buffer.byteLength(`${lines[0]}\n`)).toBeLessThan(5000);
    }
  });

  test('contains for each tool an output schema and a title', async () => {
    const { result = {} } = await serve().request('tools/list');
    for (const tool of result.tools as Record<string, unknown>[]) {
      expect(tool.outputSchema).toMatchObject({
        type: 'object',
        required: ['answer', 'used_search', 'citations', 'model'],
      });
      // A client would reject a result with a field of a later version.
      expect(JSON.stringify(tool.outputSchema)).not.toContain('additionalProperties');
      expect(tool.title).toEqual(expect.any(String));
    }
  });
});

describe('instructions', () => {
  const wanted = [/answer_quick .*simple facts/, /answer_detailed .*research/, /Do not add a year/];

  test('are returned by initialize', async () => {
    const { result } = await serve().initialize();
    for (const words of wanted) expect(result?.instructions).toMatch(words);
  });

  test('are returned by server/discover', async () => {
    const { result } = await serve().request('server/discover', { _meta: MODERN });
    for (const words of wanted) expect(result?.instructions).toMatch(words);
  });
});

describe('an answer that is too long', () => {
  const long = 'A paragraph that says something.\n\n'.repeat(2000).trim();
  const citations = [
    { url: 'https://a.example/', title: 'A' },
    { url: 'https://b.example/', title: 'B' },
  ];

  test.for([
    ['What?', /\n\n\[The answer is too long and was cut here: \d+ of \d+ characters are shown\.\]\n\nSources:\n/],
    ['何ですか？', /\n\n\[回答が長いため、ここで切りました（全 \d+ 文字のうち \d+ 文字）。\]\n\nSources:\n/],
  ] as const)('is cut at a paragraph and says so, with complete citations: %s', async ([query, note]) => {
    const { api, server } = shared();
    api.reply(answers(long, { citations }));
    const response = await server.callTool('answer', { query });
    const { answer, citations: cited } = answerOf(response);
    expect(answer.length).toBeLessThanOrEqual(20_000);
    expect(answer.length).toBeGreaterThan(19_000);
    expect(answer).toMatch(note);
    expect(answer.slice(0, answer.search(note)).split('\n\n').at(-1)).toBe('A paragraph that says something.');
    expect(cited.map(({ url }) => url)).toEqual(citations.map(({ url }) => url));
    expect(
      answer.endsWith(`Sources:\n${cited.map(({ url, published_at }) => `- ${url} (${published_at})`).join('\n')}`),
    ).toBe(true);
    expect(response.result?.structuredContent).toEqual(JSON.parse(textOf(response)));
  });

  test('is limited by server.max_answer_chars', async () => {
    const config = newFile('config.yaml', 'server: {max_answer_chars: 1234}\n');
    const { api, server } = await serveWithApi({ args: ['--stdio', '--config', config] });
    api.reply(answers(long));
    const { answer } = answerOf(await server.callTool('answer', { query: 'q' }));
    expect(answer.length).toBeLessThanOrEqual(1234);
    expect(answer.length).toBeGreaterThan(1000);
    expect(answer).toMatch(/cut here/);
  });

  const hintsOf = ({ result = {} }: JsonRpcMessage) => {
    const tools = result.tools as readonly { readonly name: string; readonly _meta?: Record<string, number> }[];
    return tools.map(({ name, _meta }) => [name, _meta?.['anthropic/maxResultSizeChars']] as const);
  };

  test('is announced to clients that know the hint, for answer_detailed only', async () => {
    expect(hintsOf(await serve().request('tools/list'))).toEqual([
      ['answer', undefined],
      ['answer_detailed', 100_000],
      ['answer_quick', undefined],
    ]);
  });

  test('is smaller than announced, for any content', async () => {
    const config = newFile('config.yaml', 'server: {max_answer_chars: 60000}\n');
    const { api, server } = await serveWithApi({ args: ['--stdio', '--config', config] });
    const [, [, hint = 0] = []] = hintsOf(await server.request('tools/list'));
    api.reply(answers('"\\'.repeat(60_000), { citations }));
    const answered = await server.callTool('answer_detailed', { query: 'q' });
    expect(textOf(answered).length).toBeGreaterThan(100_000);
    expect(textOf(answered).length).toBeLessThanOrEqual(hint);
  });
});
