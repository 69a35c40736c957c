import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { answers, fails } from '../support/behaviours.ts';
import { newFile, newFolder } from './files.ts';
import { API_KEY, answerOf, serveWithApi } from './serve.ts';

const QUERY = 'A question that nobody else may read';

const echoesKey = (status: number) =>
  fails({
    status,
    error: {
      message: `Incorrect API key provided: ${API_KEY}. ${'x'.repeat(500)}`,
      type: 'invalid_request_error',
      param: null,
      code: 'invalid_api_key',
    },
    headers: { 'retry-after-ms': '1' },
  });

test.for([
  ['DEBUG=1', { env: { DEBUG: '1' } }],
  ['DEBUG=true', { env: { DEBUG: 'true' } }],
  ['--debug', { args: ['--stdio', '--debug'] }],
] as const)('%s logs on stderr, and stdout contains only MCP', async ([, options]) => {
  const { api, server } = await serveWithApi({
    ...options,
    env: { OPENAI_LOG: 'debug', ...('env' in options ? options.env : {}) },
  });
  api.replyAlways(answers('Fine.'));
  await server.initialize();
  await server.callTool('answer', { query: QUERY, max_results: 3 });
  server.closeStdin();
  await server.exited;
  expect(server.junk).toEqual([]);
  expect(server.messages).toHaveLength(2);
  const log = server.stderr();
  expect(log).toContain(`tools/call name=answer argsKeys=["query","max_results"] queryLen=${QUERY.length}`);
  expect(log).toContain('answer: profile=answer model=gpt-5.2 supports={verbosity:true, reasoning:true}');
  expect(log).toContain('answer: request summary tools=web_search(on) reasoning=on text.verbosity=on');
  expect(log).not.toContain(API_KEY);
});

test.for([['0'], ['false'], [''], ['express:*'], ['*']])('DEBUG=%s is ignored', async ([value]) => {
  const { api, server } = await serveWithApi({ env: { DEBUG: value ?? '' } });
  api.replyAlways(answers('Fine.'));
  await server.callTool('answer', { query: QUERY });
  server.closeStdin();
  await server.exited;
  expect(server.stderr()).toBe('');
});

test('logs a cancellation with its reason', async () => {
  const { api, server } = await serveWithApi({ env: { DEBUG: '1' } });
  api.replyAlways({ kind: 'neverAnswers' });
  void server.callTool('answer', { query: QUERY }, undefined, 7);
  await api.waitForRequests(1);
  server.notify('notifications/cancelled', { requestId: 7, reason: 'too slow' });
  await api.waitForAbort(0);
  server.closeStdin();
  await server.exited;
  expect(server.stderr()).toContain('cancelled requestId=7 reason=too slow');
});

test('logs a cancellation that arrives with its call, before anything was loaded', async () => {
  const { api, server } = await serveWithApi({ env: { DEBUG: '1' } });
  void server.callTool('answer', { query: QUERY }, undefined, 7);
  server.notify('notifications/cancelled', { requestId: 7, reason: 'never mind' });
  await server.request('ping', {}, 8);
  server.closeStdin();
  await server.exited;
  expect(server.stderr()).toContain('cancelled requestId=7 reason=never mind');
  expect(api.requests).toEqual([]);
});

test('a debug file gets the same lines, readable for its owner only', async () => {
  const file = path.join(newFolder(), 'debug.log');
  const { api, server } = await serveWithApi({ args: ['--stdio', `--debug=${file}`] });
  api.replyAlways(answers('Fine.'));
  await server.callTool('answer', { query: QUERY });
  server.closeStdin();
  await server.exited;
  expect(readFileSync(file, 'utf8')).toBe(server.stderr());
  expect(server.stderr()).not.toBe('');
  if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('an error contains status, type and name only with debug', async () => {
  const behaviour = fails({
    status: 403,
    error: { message: `No. ${'y'.repeat(1000)}`, type: 'invalid_request_error', param: null, code: 'forbidden' },
  });
  const debugged = await serveWithApi({ env: { DEBUG: '1' } });
  debugged.api.replyAlways(behaviour);
  const { error } = await debugged.server.callTool('answer', { query: QUERY });
  const data = error?.data as { message: string };
  expect(error).toMatchObject({ code: -32001, message: 'answer failed' });
  expect(data).toEqual({
    message: expect.stringMatching(/^The API denied access \(403\): No\. y+/),
    status: 403,
    type: 'invalid_request_error',
    name: 'PermissionDeniedError',
  });
  expect(data.message.length).toBeLessThanOrEqual(400);
  expect(JSON.stringify(data)).not.toContain(QUERY);

  const plain = await serveWithApi();
  plain.api.replyAlways(behaviour);
  expect(Object.keys((await plain.server.callTool('answer', { query: QUERY })).error?.data as object)).toEqual([
    'message',
  ]);
});

test('logs every failed attempt, its body shortened', async () => {
  const { api, server } = await serveWithApi({ env: { DEBUG: '1', OPENAI_MAX_RETRIES: '1' } });
  api.replyAlways(echoesKey(500));
  await server.callTool('answer', { query: QUERY });
  server.closeStdin();
  await server.exited;
  const lines = server
    .stderr()
    .split('\n')
    .filter((line) => line.includes('openai(client): error'));
  expect(lines).toHaveLength(2);
  expect(lines[0]).toMatch(/error attempt=1 status=500 name=InternalServerError code=invalid_api_key msg="/);
  expect(lines[1]).toContain('error attempt=2 ');
  for (const line of lines) expect(line.length).toBeLessThan(1000);
});

test('no key is shown if an error repeats it', async () => {
  const file = path.join(newFolder(), 'debug.log');
  const { api, server } = await serveWithApi({
    args: ['--stdio', '--show-config', `--debug=${file}`],
    env: { OPENAI_MAX_RETRIES: '1' },
  });
  const statuses = [401, 400, 403, 429, 500];
  for (const status of statuses) {
    api.replyAlways(echoesKey(status));
    expect((await server.callTool('answer', { query: `Is ${API_KEY} mine?` })).error).toBeDefined();
  }
  server.closeStdin();
  await server.exited;
  for (const status of statuses) expect(server.stderr()).toContain(`status=${status}`);
  const shown = server.stdout + server.stderr() + readFileSync(file, 'utf8');
  expect(shown).not.toContain(API_KEY.slice(0, 12));
});

test('no key is shown if the model repeats it, and a similar word in an answer is kept', async () => {
  const url = 'https://example.com/openai-sk-hynix-musk-vs-altman';
  const { api, server } = await serveWithApi({ env: { DEBUG: '1' } });
  api.replyAlways(answers(`Your key is ${API_KEY}; see ${url}`, { citations: [{ url, title: 'sk-hynix' }] }));
  const answer = answerOf(await server.callTool('answer', { query: QUERY }));
  expect(answer.answer).toMatch(
    /^Your key is \[redacted\]; see https:\/\/example\.com\/openai-sk-hynix-musk-vs-altman/,
  );
  expect(answer.citations[0]).toMatchObject({ url, title: 'sk-hynix' });
  server.closeStdin();
  await server.exited;
  expect(server.stdout + server.stderr()).not.toContain(API_KEY);
});

test('a key of an unusual form in another variable is masked as well', async () => {
  const key = 'gateway+key/without=prefix';
  const { api, server } = await serveWithApi({
    args: ['--stdio', '--debug', '--config', newFile('config.yaml', 'openai: {api_key_env: GATEWAY_KEY}\n')],
    env: { GATEWAY_KEY: key },
  });
  api.replyAlways(fails({ status: 403, error: { message: `Bad ${key}`, type: 'x', param: null, code: null } }));
  await server.callTool('answer', { query: QUERY });
  server.closeStdin();
  await server.exited;
  expect(api.requests[0]?.headers.authorization).toBe(`Bearer ${key}`);
  expect(server.stdout + server.stderr()).not.toContain(key);
});
