import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { answers, type Behaviour, fails, holds, sendsBody, stallsMidStream } from '../support/behaviours.ts';
import { newFile } from './files.ts';
import { API_KEY, answerOf, failureOf, ROOT, serve, serveWithApi, textOf, tokyoToday } from './serve.ts';

const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { version: string };

const MODERN = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
const REPORT = 'io.github.uchimanajet7.openai-responses-mcp/report';
const PAGE = 'https://tenki.jp/forecast/';

/** A complete reply, with everything that the API reports about it. */
function searchesAndReads(): Behaviour {
  const call = (action: object) => ({ type: 'web_search_call', id: 'ws', status: 'completed', action });
  const annotations = [
    { type: 'url_citation', url: `${PAGE}?utm_source=openai`, title: '天気', start_index: 0, end_index: 0 },
  ];
  const output = [
    call({ type: 'search', query: 'tokyo weather', queries: ['tokyo weather', '東京 天気'] }),
    call({ type: 'open_page', url: `${PAGE}?utm_source=openai` }),
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: '晴れです。', annotations }] },
  ];
  const usage = {
    input_tokens: 12_345,
    input_tokens_details: { cached_tokens: 1024 },
    output_tokens: 678,
    output_tokens_details: { reasoning_tokens: 256 },
  };
  const response = { id: 'resp_abc', model: 'gpt-5.2-2025-12-11', status: 'completed', output, usage };
  const events = [
    ...output.map((item, output_index) => ({ type: 'response.output_item.done', output_index, item })),
    { type: 'response.completed', response },
  ];
  return sendsBody({
    body: events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''),
  });
}

const EXPECTED_REPORT = {
  model: 'gpt-5.2-2025-12-11',
  response_id: 'resp_abc',
  usage: { input_tokens: 12_345, cached_tokens: 1024, output_tokens: 678, reasoning_tokens: 256 },
  searches: { count: 1, queries: ['tokyo weather', '東京 天気'] },
  cost: { usd: 0.039483, prices_of: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) },
  attempts: 1,
  seconds: expect.any(Number),
};

const rateLimited = fails({
  status: 429,
  error: { message: 'Slow down.', type: 'requests', param: null, code: 'rate_limit_exceeded' },
  headers: { 'retry-after-ms': '60' },
});
const refused = (message: string) =>
  fails({ status: 403, error: { message, type: 'invalid_request_error', param: null, code: 'forbidden' } });

// S2
test.each(['line', 'framed'] as const)('a conversation in the framing "%s"', async (framing) => {
  const env = { OPENAI_LOG: 'debug', NODE_ENV: 'development', DEBUG: 'express:*' };
  const { api, server } = await serveWithApi({ framing, env });
  const { result } = await server.initialize({ protocolVersion: '2025-11-25' });
  expect(result).toMatchObject({
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'openai-responses-mcp', version },
    instructions: expect.stringMatching(/answer_quick .*simple facts[\s\S]*Do not add a year/),
  });
  const listed = (await server.request('tools/list')).result as {
    readonly tools: readonly { readonly name: string }[];
  };
  expect(listed.tools.map(({ name }) => name)).toEqual(['answer', 'answer_detailed', 'answer_quick']);

  api.reply(searchesAndReads());
  const before = tokyoToday();
  const query = '本日の東京の天気は？';
  const response = await server.callTool('answer', { query, recency_days: '7', domains: 'https://jma.go.jp/' });
  const answer = answerOf(response);
  const today = [before, tokyoToday()].find((day) => day === answer.citations[0]?.published_at);
  expect(Object.entries(answer)).toEqual([
    ['answer', `晴れです。\n\nSources:\n- ${PAGE} (${today})`],
    ['used_search', true],
    ['citations', [{ url: PAGE, title: '天気', published_at: today }]],
    ['model', 'gpt-5.2'],
  ]);
  expect(response.result).toEqual({
    content: [{ type: 'text', text: JSON.stringify(answer) }],
    structuredContent: answer,
    _meta: { [REPORT]: EXPECTED_REPORT },
  });
  expect(String(api.requests[0]?.body.input)).toMatch(/recency_days=7; max_results=5; domains=jma\.go\.jp/);
  expect(api.requests[0]?.headers.authorization).toBe(`Bearer ${API_KEY}`);

  await server.request('ping', {}, 'last');
  const pong = '{"jsonrpc":"2.0","id":"last","result":{}}';
  expect(server.stdout.endsWith(framing === 'line' ? `\n${pong}\n` : `}Content-Length: 41\r\n\r\n${pong}`)).toBe(true);
  server.closeStdin();
  expect(await server.exited).toEqual({ code: 0, signal: null });
  expect(new Set(server.framings)).toEqual(new Set([framing]));
  expect({ messages: server.messages.length, junk: server.junk, stderr: server.stderr() }).toEqual({
    messages: 4,
    junk: [],
    stderr: '',
  });
});

test('the list of tools is one line of less than 5 kB, and names the time zone and the size of answers', async () => {
  const config = newFile('config.yaml', 'server: {max_answer_chars: 60000}\n');
  const { api, server } = await serveWithApi({
    args: ['--stdio', '--config', config],
    env: { TIME_ZONE: 'America/Argentina/Buenos_Aires' },
  });
  const { result } = await server.request('tools/list', { _meta: MODERN });
  expect(server.stdout.trimEnd()).not.toContain('\n');
  expect(Buffer.byteLength(server.stdout)).toBeLessThan(5000);
  expect(server.stdout).toContain('such as \\"today\\" are in America/Argentina/Buenos_Aires.');
  expect(server.stdout).not.toContain('Tokyo');
  const tools = result?.tools as readonly { readonly outputSchema: object; readonly _meta?: Record<string, number> }[];
  // A client would reject a result with a field of a later version.
  for (const { outputSchema } of tools) expect(JSON.stringify(outputSchema)).not.toContain('additionalProperties');
  const hints = tools.map(({ _meta }) => _meta?.['anthropic/maxResultSizeChars']);
  expect([hints[0], hints[2]]).toEqual([undefined, undefined]);

  api.reply(answers('"\\'.repeat(60_000)));
  const answered = textOf(await server.callTool('answer_detailed', { query: 'q' }));
  expect(answered.length).toBeGreaterThan(100_000);
  expect(answered.length).toBeLessThanOrEqual(hints[1] ?? 0);
  expect(String(api.requests[0]?.body.instructions)).toContain('in America/Argentina/Buenos_Aires.');
  expect(api.requests[0]?.rawBody).not.toContain('Tokyo');
});

test('a failure has its cause, and with debug attempts and costs are logged, without question and key', async () => {
  const { api, server } = await serveWithApi({ env: { DEBUG: '1' } });
  api.reply(rateLimited, refused(`No, ${API_KEY}. ${'y'.repeat(1000)}`), searchesAndReads());
  const { error } = await server.callTool('answer', { query: 'A question of mine' });
  expect(error).toEqual({
    code: -32001,
    message: 'answer failed',
    data: {
      message: expect.stringMatching(/^The API denied access \(403\): No, \[redacted\]\. y+/),
      status: 403,
      type: 'invalid_request_error',
      name: 'PermissionDeniedError',
    },
  });
  await server.callTool('answer', { query: 'A question of mine' });
  server.closeStdin();
  await server.exited;
  const log = server.stderr();
  expect(log.match(/error attempt=1 status=\d+.*/g)).toHaveLength(1);
  expect(log).toMatch(/error attempt=1 status=429 name=RateLimitError code=rate_limit_exceeded msg="/);
  expect(log).toMatch(/error attempt=2 status=403 name=PermissionDeniedError code=forbidden msg=".{1,900}\n/);
  expect(log).toMatch(
    /answer: usage model=gpt-5\.2-2025-12-11 response=resp_abc input=12345 cached=1024 reasoning=256 output=678 searches=1 attempts=1 seconds=\d+\.\d+\n/,
  );
  expect(log).not.toContain('A question of mine');
  expect(log + server.stdout).not.toContain(API_KEY.slice(0, 12));
});

const SUPPORTS_EFFORT = `model_profiles:
  answer: { model: o3 }
  answer_detailed: { model: gpt-5.2 }
  answer_quick: { model: gpt-4o }
`;

// S8
test.for([
  ['answer', 'o3', 'verbosity:false, reasoning:true', 'reasoning=on text.verbosity=off'],
  ['answer_detailed', 'gpt-5.2', 'verbosity:true, reasoning:true', 'reasoning=on text.verbosity=on'],
  ['answer_quick', 'gpt-4o', 'verbosity:false, reasoning:false', 'reasoning=off text.verbosity=off'],
])('with debug, %s with %s logs each step of its call', async ([tool = '', model, supports, sent]) => {
  const args = ['--stdio', '--debug', '--config', newFile('config.yaml', SUPPORTS_EFFORT)];
  const { api, server } = await serveWithApi({ framing: 'framed', args });
  api.reply(answers('Yes.'));
  await server.callTool(tool, { query: 'A question of mine' });
  server.closeStdin();
  await server.exited;
  const log = server.stderr();
  for (const line of [
    /server: stdin chunk=\d+\n/,
    /server: headerEnd=21\n/,
    /server: recv method=tools\/call id=\d+\n/,
    new RegExp(`server: tools/call name=${tool} argsKeys=\\["query"\\] queryLen=18\n`),
    /server: send \(framed\) bytes=\d+\n/,
    /server: send json=\{"jsonrpc":"2\.0"/,
  ])
    expect(log).toMatch(line);
  expect(log).toContain(`answer: profile=${tool} model=${model} supports={${supports}}\n`);
  expect(log).toContain(`answer: request summary tools=web_search(on) ${sent}\n`);
});

// S20
test('a missing key fails the call and nothing else', async () => {
  const server = serve();
  expect((await server.initialize()).result).toBeDefined();
  const missing = failureOf(await server.callTool('answer', { query: 'q' }));
  expect(missing).toMatch(/^No API key: the environment variable OPENAI_API_KEY is not set\./);
  expect((await server.request('ping')).result).toEqual({});
  expect(server.stderr()).toBe('');
});

test('a cancelled call is aborted upstream at once and gets no response; other calls continue', async () => {
  const { api, server } = await serveWithApi({ env: { DEBUG: '1' } });
  const held = holds();
  api.replyWith(({ body }) => (String(body.input).startsWith('kept') ? held : stallsMidStream()));
  const kept = server.callTool('answer', { query: 'kept' }, {}, 1);
  void server.callTool('answer', { query: 'dropped' }, {}, '1');
  await api.waitForRequests(2);
  server.notify('notifications/cancelled', { requestId: '1', reason: 'changed my mind' });
  await api.until(() => api.requests.some(({ aborted }) => aborted));
  expect((await server.request('ping', {}, 2)).result).toEqual({});
  held.release(answers('Still here.'));
  expect(answerOf(await kept).answer).toBe('Still here.');
  expect(server.messages.map(({ id }) => id)).toEqual([2, 1]);
  await expect.poll(() => server.stderr()).toContain('cancelled requestId=1 reason=changed my mind');
});

test('the example configuration tunes each tool', async () => {
  const config = path.join(ROOT, 'config', 'config.yaml.example');
  const { api, server } = await serveWithApi({ args: ['--stdio', '--config', config] });
  api.replyAlways(answers('Yes.'));
  const models: string[] = [];
  for (const name of ['answer', 'answer_detailed', 'answer_quick'])
    models.push(answerOf(await server.callTool(name, { query: 'q' })).model);
  expect(models).toEqual(['gpt-5.2', 'gpt-5.2', 'gpt-5.2']);
  const tuned = api.requests.map(({ body }) => {
    const { reasoning, text, tools, max_tool_calls: calls } = body as Readonly<Record<string, Record<string, unknown>>>;
    const [search] = tools as unknown as readonly Record<string, unknown>[];
    return [reasoning?.effort, text?.verbosity, search?.search_context_size, calls];
  });
  expect(tuned).toEqual([
    ['medium', 'medium', undefined, undefined],
    ['high', 'high', 'high', 30],
    ['low', 'low', 'low', 3],
  ]);
});
