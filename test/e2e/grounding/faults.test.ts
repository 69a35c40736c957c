import { expect, test } from 'vitest';
import { type Behaviour, fails, failsInStream, neverAnswers, resetsMidStream } from '../../support/behaviours.ts';
import { calls, reasons, says } from '../../support/conversation-items.ts';
import { cutsBeforeEnd } from '../../support/fake-conversation-api.ts';
import { begin, legacy } from '../../support/http-client.ts';
import { startHttpProcess } from '../../support/http-process.ts';
import { posixTest } from '../../support/platform.ts';
import { runCli } from '../../support/run-cli.ts';
import { type Reaction, scriptedServer, text } from '../../support/scripted-mcp.ts';
import { answerOf, apiEnv, failureOf } from '../serve.ts';
import { configFile, conversationApi, PATIENTLY, reportOf, SEARCH_NOTES, serveGrounded, WRITE_NOTE } from './kit.ts';

/** Two rounds with one call each, and the answer. */
const SCRIPT = [
  [reasons('1'), calls('1', 'notes__write_note', { word: 'one' })],
  [reasons('2'), calls('2', 'notes__write_note', { word: 'two' })],
  [says('3', 'Both are written.')],
];
const GROUNDING = { grounding: { tools: { notes: ['write_note', 'search_notes'] } } };
const SOON = { 'retry-after-ms': '5' };
const busy = { message: 'Slow down.', type: 'requests', param: null, code: 'rate_limit_exceeded' };
const broken = { message: 'The server had an error.', type: 'server_error', param: null, code: null };
const CUT_CALL = { items: [reasons('cut'), calls('cut', 'notes__write_note', { word: 'never' })] };

const FAULTS: readonly (readonly [string, Behaviour])[] = [
  ['429', fails({ status: 429, error: busy, headers: SOON })],
  ['500', fails({ status: 500, error: broken, headers: SOON })],
  ['a failure in the stream', failsInStream({ code: 'rate_limit_exceeded', message: 'Please try again in 5ms.' })],
  ['a stream that is cut after a call', cutsBeforeEnd(CUT_CALL)],
  ['a connection that is reset', resetsMidStream()],
];

test('after a fault in any round, the request is repeated, and no call', async () => {
  const { api, notes, server } = await serveGrounded(GROUNDING);
  const disturbed = FAULTS.flatMap(([what, behaviour]) => [0, 1, 2].map((round) => ({ what, behaviour, round })));
  const toQuestion = ({ what, round }: (typeof disturbed)[number]) => `after ${what} in round ${round}`;
  for (const one of disturbed) {
    api.script(SCRIPT, toQuestion(one));
    api.disturb(one.round, [one.behaviour], toQuestion(one));
  }
  const answered = await Promise.all(
    disturbed.map(async (one) => {
      const response = await server.callTool('answer', { query: `Write the notes ${toQuestion(one)}` });
      return [toQuestion(one), answerOf(response).answer, reportOf(response)] as const;
    }),
  );
  const report = { attempts: 4, rounds: 3, tool_calls: [{ ok: true }, { ok: true }] };
  expect(answered).toMatchObject(
    disturbed.map((one) => [toQuestion(one), expect.stringMatching(/^Both are written\./), report]),
  );
  expect(api.requests).toHaveLength(4 * disturbed.length);
  expect(api.refusals).toEqual([]);
  expect(notes.calls().toSorted()).toEqual([
    ...disturbed.map(() => 'write_note {"word":"one"}'),
    ...disturbed.map(() => 'write_note {"word":"two"}'),
  ]);
});

test('a failure that lasts ends the answer after max_retries of that request', async () => {
  const { api, notes, server } = await serveGrounded({ ...GROUNDING, more: { request: { max_retries: 1 } } });
  api.script(SCRIPT);
  const down = fails({ status: 500, error: broken, headers: SOON });
  api.disturb(0, [down]);
  api.disturb(2, [down, down]);
  expect(failureOf(await server.callTool('answer', { query: 'Write' }))).toMatch(/^The API failed; gave up after 2/);
  expect(api.requests).toHaveLength(5);
  expect(notes.calls()).toHaveLength(2);
});

test.each([
  [
    'a rejected history',
    fails({
      status: 400,
      error: {
        ...broken,
        message: "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
        param: 'input',
      },
    }),
    /^The API did not accept the conversation with the tools' outputs: Item 'rs_1'/,
  ],
  [
    'items that are not found',
    fails({
      status: 404,
      error: { ...broken, message: "Item with id 'rs_1' not found. Items are not persisted.", param: 'input' },
    }),
    /^The API did not accept the conversation with the tools' outputs: Item with id/,
  ],
  [
    'a policy violation',
    fails({ status: 403, error: { ...broken, message: 'Blocked.', code: 'misalignment_policy_violation' } }),
    /^OpenAI blocked this request, because it may transfer data in an unintended way: Blocked\. It is not repeated\./,
  ],
  [
    'a policy violation in the stream',
    failsInStream({ code: 'misalignment_policy_violation', message: 'Blocked.' }),
    /^OpenAI blocked this request/,
  ],
])('%s ends the answer, and is not repeated', async (_what, behaviour, message) => {
  const { api, notes, server } = await serveGrounded(GROUNDING);
  api.script(SCRIPT);
  api.disturb(1, [behaviour]);
  expect(failureOf(await server.callTool('answer', { query: 'Write' }))).toMatch(message);
  expect(api.requests).toHaveLength(2);
  expect(notes.calls()).toHaveLength(1);
});

test('a back end that refuses the closed web gets requests without a search; if it refuses those too, the answer fails', async () => {
  const { api, notes, server } = await serveGrounded({ ...GROUNDING, backEnd: { refusesExternalWebAccess: true } });
  api.script(SCRIPT);
  answerOf(await server.callTool('answer', { query: 'Write' }));
  const types = api.requests.map(({ body }) => (body.tools as readonly { type: string }[])[0]?.type);
  expect(types).toEqual(['web_search', 'web_search', 'function', 'function']);
  api.disturb(1, [fails({ status: 400, error: { ...broken, message: 'web_search is required.', param: 'tools' } })]);
  expect(failureOf(await server.callTool('answer', { query: 'Write again' }))).toMatch(
    /^The API accepts no request in which the web is closed, so that private data might leave in a search: web_search/,
  );
  expect(notes.calls()).toHaveLength(3);
});

test.each<[string, Reaction, RegExp]>([
  ['crashes', { does: 'exit' }, /^error: The server was lost during the call/],
  ['does not answer', { does: 'hang' }, /^error: No answer within 0\.3 s/],
  [
    'reports an error',
    text('disk full at /srv/notes/a.db\n  at write()', { isError: true }),
    /^error: disk full at <path>$/,
  ],
  ['fails', { error: { code: -32000, message: 'not now' } }, /^error: not now$/],
])('a server that %s does not fail the answer, and is not called again', async (_what, reaction, output) => {
  const api = await conversationApi();
  api.script([[reasons('1'), calls('1', 'notes__write_note', { word: 'x' })], [says('2', 'It did not work.')]]);
  const notes = scriptedServer([{ ...WRITE_NOTE, reactions: [reaction] }]);
  const servers = [
    {
      name: 'notes',
      command: notes.command,
      args: notes.args,
      timeout: 'does' in reaction && reaction.does === 'hang' ? 300 : 10_000,
    },
  ];
  const config = configFile({ grounding: { tools: { notes: ['write_note'] } }, more: { servers } });
  const { code, stdout } = await runCli(['ask', '--json', '--config', config, 'Write'], { env: apiEnv(api) });
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ report: { rounds: 2, tool_calls: [{ tool: 'write_note', ok: false }] } });
  const input = api.requests[1]?.body.input as readonly { output?: string }[] | undefined;
  expect(input?.at(-1)?.output).toMatch(output);
  expect(api.requests).toHaveLength(2);
  expect(notes.calls()).toHaveLength(1);
  expect(notes.running()).toEqual([]);
});

test('a cancellation during a call ends it, and nothing is sent afterwards', async () => {
  const slow = { ...SEARCH_NOTES, reactions: [{ does: 'hang' as const }] };
  const { api, notes, server } = await serveGrounded({ tools: [slow] });
  api.script([
    [reasons('1'), calls('1', 'notes__search_notes', { word: 'x' }), calls('2', 'notes__search_notes', { word: 'y' })],
  ]);
  void server.callTool('answer', { query: 'Slow' }, { progressToken: 'p' }, 'slow');
  await server.waitFor(({ params }) => /Calling/.test(String(params?.message)));
  await expect.poll(() => notes.calls(), PATIENTLY).toHaveLength(2);
  server.notify('notifications/cancelled', { requestId: 'slow' });
  await expect.poll(() => notes.events().filter(({ event }) => event === 'cancelled'), PATIENTLY).toHaveLength(2);
  expect((await server.request('ping')).result).toEqual({});
  expect(server.messages.filter(({ id }) => id === 'slow')).toEqual([]);
  expect(api.requests).toHaveLength(1);
  server.closeStdin();
  expect(await server.exited).toEqual({ code: 0, signal: null });
  expect(notes.running()).toEqual([]);
});

test('a cancellation while the model answers aborts the request, in a later round too', async () => {
  const { api, notes, server } = await serveGrounded(GROUNDING);
  api.script(SCRIPT);
  api.disturb(1, [neverAnswers()]);
  void server.callTool('answer', { query: 'Write' }, {}, 'slow');
  await api.waitForRequests(2);
  server.notify('notifications/cancelled', { requestId: 'slow' });
  await api.waitForAbort(1);
  expect((await server.request('ping')).result).toEqual({});
  expect(server.messages.filter(({ id }) => id === 'slow')).toEqual([]);
  expect(notes.calls()).toHaveLength(1);
});

posixTest('signals')('a caller over HTTP that leaves during a call cancels it', async () => {
  const api = await conversationApi();
  api.script([[calls('1', 'notes__search_notes', { word: 'x' })]]);
  const notes = scriptedServer([{ ...SEARCH_NOTES, reactions: [{ does: 'hang' }] }]);
  const config = configFile({
    notes,
    grounding: { tools: { notes: 'all' }, callers: ['alice'] },
    more: { http: { token_env: { alice: 'TOKEN_A' } } },
  });
  const env = { ...apiEnv(api), TOKEN_A: 'token-of-alice-0123' };
  const http = await startHttpProcess({ args: ['--http=127.0.0.1:0', '--config', config], env });
  const exchange = begin(http.url, {
    headers: { Authorization: 'Bearer token-of-alice-0123' },
    body: legacy('tools/call', { name: 'answer', arguments: { query: 'Slow' }, _meta: { progressToken: 1 } }),
  });
  await expect.poll(() => notes.calls(), PATIENTLY).toHaveLength(1);
  exchange.leave();
  await expect.poll(() => notes.events().map(({ event }) => event), PATIENTLY).toContain('cancelled');
  http.kill();
  expect(await http.exited).toEqual({ code: 0, signal: null });
  expect(api.requests).toHaveLength(1);
  expect(notes.running()).toEqual([]);
});

posixTest('signals')('a program that is stopped during a call leaves no process', async () => {
  const slow = { ...SEARCH_NOTES, reactions: [{ does: 'hang' as const }] };
  const { api, notes, server } = await serveGrounded({ tools: [slow] });
  api.script([[calls('1', 'notes__search_notes', { word: 'x' })]]);
  void server.callTool('answer', { query: 'Slow' });
  await expect.poll(() => notes.calls(), PATIENTLY).toHaveLength(1);
  server.kill('SIGTERM');
  await server.exited;
  expect(notes.running()).toEqual([]);
  expect(api.requests).toHaveLength(1);
});
