import { describe, expect, test } from 'vitest';
import { rightsBy } from '../../src/domain/gateway/access.ts';
import { startAudit } from '../support/fake-audit.ts';
import { FakeLlmSearch, replies } from '../support/fake-llm-search.ts';
import { legacy, modern, type Reply, send } from '../support/http-client.ts';
import { echoes, ScriptedToolServer, hangs as waits } from '../support/scripted-tool-server.ts';
import { until } from '../support/until.ts';
import { type ServeGatewayOptions, serveGateway } from './serve-gateway.ts';

const json = ({ text }: Reply) => JSON.parse(text) as Record<string, unknown>;
const PARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const OTHER = '00-11111111111111111111111111111111-2222222222222222-00';
const NO_AUDIT = expect.stringMatching(/^AUDIT_UNAVAILABLE: [^/]+$/);
const UNRECORDED = expect.stringMatching(/^CALL_UNRECORDED: The call was made, [^/]+ Do not repeat it[^/]+$/);
const ANSWERS = 'openai-responses-mcp';

async function serveAudited(options: ServeGatewayOptions = {}) {
  const { audit, log, clock } = startAudit({ onFailure: 'refuse' });
  // A tool that only reads has one line; another one has a line `begun`, too.
  const notes = new ScriptedToolServer({
    read: { script: echoes, annotations: { readOnlyHint: true } },
    wait: waits,
  });
  const hidden = new ScriptedToolServer({ read: echoes });
  const llmSearch = new FakeLlmSearch(...Array.from({ length: 4 }, () => replies({ text: 'Not Found.' })));
  return { log, notes, ...(await serveGateway({ notes, hidden }, { llmSearch, ...options, audit, clock })) };
}

const call = (name: string, args: object = {}) => legacy('tools/call', { name, arguments: args });

test('over REST, a call has a line with the ID of its request', async () => {
  const { call, at, log } = await serveAudited();
  await call({ server: 'notes', toolName: 'read', input: { b: 1, a: 2 } }, { 'X-Request-Id': 'r-1' });
  const reply = await send(at('/mcp/tools/openai-responses-mcp/answer'), { body: { query: 'What is 404?' } });
  expect(log.entries).toMatchObject([
    { request_id: 'r-1', caller: 'local', door: 'rest', server: 'notes', tool: 'read', bytes: 48 },
    { request_id: reply.headers['x-request-id'], door: 'rest', server: ANSWERS, tool: 'answer', bytes: 76 },
  ]);
});

test('a call that may have effects has a line before it is sent', async () => {
  const { beginCall, log, notes } = await serveAudited();
  const called = beginCall({ server: 'notes', toolName: 'wait' });
  await until(() => notes.calls.length === 1);
  expect(log.entries).toMatchObject([{ id: 'line-1', tool: 'wait', outcome: 'begun' }]);
  called.leave();
});

test.each([
  ['notes__read', { server: 'notes', tool: 'read', outcome: 'answered' }],
  ['notes__x', { server: 'notes', tool: 'x', outcome: 'unknown_tool' }],
  ['no__such__tool', { server: '', tool: 'no__such__tool', outcome: 'unknown_tool' }],
  ['nothing', { server: '', tool: 'nothing', outcome: 'unknown_tool' }],
])('over MCP, a call of %s has a line, also one through call_tool', async (name, line) => {
  const { post, log } = await serveAudited({ expose: 'search' });
  await post(call('find_tools', { query: '' }));
  await post(call(name, { b: 1, a: 2 }));
  await post(call('call_tool', { name, arguments: { b: 1, a: 2 } }));
  const expected = { door: 'mcp', ...line, arguments: ['a', 'b'] };
  expect(log.entries).toMatchObject([expected, expected]);
  expect(log.entries[0]).not.toHaveProperty('request_id');
});

test.each([
  ['hidden', 'read'],
  [ANSWERS, 'answer'],
])('a call of %s/%s that access refuses has a line that says so', async (server, tool) => {
  const rightsOf = rightsBy({ local: { servers: { notes: ['wait'] }, answers: ['answer_quick'] } });
  const { call: rest, post, log } = await serveAudited({ http: { rightsOf } });
  expect((await rest({ server, toolName: tool, input: { query: 'x' } })).status).toBe(404);
  await post(call(server === ANSWERS ? tool : `${server}__${tool}`));
  expect(log.entries).toMatchObject([
    { door: 'rest', server, tool, outcome: 'denied' },
    { door: 'mcp', server, tool, outcome: 'denied' },
  ]);
});

describe('while the log cannot be written', () => {
  // S66
  test('REST answers 503 without sending the call, 502 for a call that was made, and answers again when it can', async () => {
    const { call, log, notes, accessLines, untilLogged } = await serveAudited();
    const read = { server: 'notes', toolName: 'read' };
    log.failure = 'ENOSPC';
    // The log has not failed yet, so that the first call is made.
    const made = await call(read);
    expect([made.status, made.headers['retry-after']]).toEqual([502, undefined]);
    expect(json(made)).toMatchObject({ success: false, error: { code: 'CALL_UNRECORDED', message: UNRECORDED } });
    for (const body of [read, { server: ANSWERS, toolName: 'x' }]) {
      const reply = await call(body);
      expect([reply.status, reply.headers['retry-after']]).toEqual([503, '1']);
      expect(json(reply)).toMatchObject({ success: false, error: { code: 'AUDIT_UNAVAILABLE', message: NO_AUDIT } });
    }
    expect(notes.calls).toHaveLength(1);
    await untilLogged(3);
    expect(accessLines).toMatchObject([
      { server: 'notes', outcome: 'unrecorded', status: 502, reason: 'audit not available' },
      { server: 'notes', outcome: 'audit_unavailable', status: 503, reason: 'audit not available' },
      { reason: 'audit not available' },
    ]);
    log.failure = undefined;
    expect((await call(read)).status).toBe(200);
  });

  test('a call over MCP is a result with an error, and an answer fails as it always does', async () => {
    const { post, log, notes } = await serveAudited();
    log.failure = 'ENOSPC';
    for (const [name, text] of [
      ['notes__read', UNRECORDED],
      ['notes__read', NO_AUDIT],
      ['nothing', NO_AUDIT],
    ]) {
      const { result } = (await post(call(String(name)))).message;
      expect(result).toEqual({ content: [{ type: 'text', text }], isError: true });
    }
    expect(notes.calls).toHaveLength(1);
    const question = { name: 'answer', arguments: { query: 'What is 404?' } };
    const legacyReply = await post(legacy('tools/call', question));
    expect(legacyReply.message.error).toMatchObject({ code: -32001, data: { message: NO_AUDIT } });
    const { result } = (await post(modern('tools/call', question))).message;
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('AUDIT_UNAVAILABLE') }] });
  });
});

test('the answer to a question that was asked, but cannot be recorded, is withheld, and is not asked again', async () => {
  const { at, log } = await serveAudited();
  log.failure = 'ENOSPC';
  const reply = await send(at('/mcp/tools/openai-responses-mcp/answer'), { body: { query: 'What is 404?' } });
  expect([reply.status, reply.headers['retry-after']]).toEqual([502, undefined]);
  expect(json(reply)).toMatchObject({ error: { code: 'CALL_UNRECORDED', message: UNRECORDED } });
});

describe('the trace of a request', () => {
  const BAGGAGE = { traceparent: PARENT, tracestate: 'a=b', baggage: 'user=alice' };

  test('over REST, is that of its headers, and goes to the server, the log and the audit', async () => {
    const { call, notes, log, accessLines, untilLogged } = await serveAudited();
    await call({ server: 'notes', toolName: 'read' }, BAGGAGE);
    await call({ server: 'notes', toolName: 'read' });
    expect(notes.last.traces).toEqual([BAGGAGE, undefined]);
    await untilLogged(2);
    for (const lines of [accessLines, log.entries])
      expect(lines.map(({ traceparent }) => traceparent)).toEqual([PARENT, undefined]);
    expect(log.lines.join()).not.toContain('alice');
  });

  test('over MCP, is that of its `_meta`, or else of its headers, in both eras', async () => {
    const { post, notes, accessLines, untilLogged } = await serveAudited();
    const params = (meta: object) => ({ name: 'notes__read', arguments: {}, _meta: meta });
    await post(legacy('tools/call', params(BAGGAGE)), { traceparent: OTHER });
    await post(legacy('tools/call', params({ traceparent: 'x' })), { traceparent: OTHER });
    await post(modern('tools/call', { name: 'notes__read', arguments: {} }, BAGGAGE));
    expect(notes.last.traces).toEqual([BAGGAGE, { traceparent: OTHER }, BAGGAGE]);
    await untilLogged(3);
    expect(accessLines.map(({ traceparent }) => traceparent)).toEqual([PARENT, OTHER, PARENT]);
  });
});
