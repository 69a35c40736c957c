import { describe, expect, test } from 'vitest';
import { rightsBy } from '../../src/domain/gateway/access.ts';
import { startAudit } from '../support/fake-audit.ts';
import { FakeLlmSearch, hangs, replies } from '../support/fake-llm-search.ts';
import { legacy, modern, type Reply, send } from '../support/http-client.ts';
import { echoes, ScriptedToolServer, hangs as waits } from '../support/scripted-tool-server.ts';
import { type ServeGatewayOptions, serveGateway } from './serve-gateway.ts';

const json = ({ text }: Reply) => JSON.parse(text) as Record<string, unknown>;
const PARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const OTHER = '00-11111111111111111111111111111111-2222222222222222-00';
const NO_AUDIT = expect.stringMatching(/^AUDIT_UNAVAILABLE: [^/]+$/);

/** A tool that only reads has one line; another one has a line `begun`, too. */
const READS = { readOnlyHint: true };

async function serveAudited(options: ServeGatewayOptions & { readonly onFailure?: 'allow' } = {}) {
  const { onFailure = 'refuse', ...served } = options;
  const { audit, log, clock, logger } = startAudit({ onFailure });
  const notes = new ScriptedToolServer({ read: { script: echoes, annotations: READS }, wait: waits });
  const hidden = new ScriptedToolServer({ read: echoes });
  const llmSearch = new FakeLlmSearch(...Array.from({ length: 4 }, () => replies({ text: 'Not Found.' })));
  const all = { llmSearch, ...served, audit, clock };
  return { log, notes, hidden, auditWarnings: logger.lines, ...(await serveGateway({ notes, hidden }, all)) };
}

const lastOf = (log: { readonly entries: readonly object[] }) => log.entries.at(-1);
const call = (name: string, args: object = {}) => legacy('tools/call', { name, arguments: args });

describe('over REST', () => {
  test('each call has a line with the ID of its request', async () => {
    const { call, at, log } = await serveAudited();
    await call({ server: 'notes', toolName: 'read', input: { b: 1, a: 2 } }, { 'X-Request-Id': 'r-1' });
    expect(lastOf(log)).toEqual({
      time: '2026-01-05T03:00:00.000Z',
      id: 'line-1',
      request_id: 'r-1',
      caller: 'local',
      door: 'rest',
      server: 'notes',
      tool: 'read',
      outcome: 'answered',
      ms: 0,
      bytes: 48,
      arguments: ['a', 'b'],
    });
    const reply = await send(at('/mcp/tools/openai-responses-mcp/answer'), { body: { query: 'What is 404?' } });
    expect(reply.status).toBe(200);
    expect(lastOf(log)).toMatchObject({
      request_id: reply.headers['x-request-id'],
      door: 'rest',
      server: 'openai-responses-mcp',
      tool: 'answer',
      outcome: 'answered',
      bytes: 76,
      arguments: ['query'],
    });
    expect(log.lines).toHaveLength(2);
  });

  test('a call that may have effects has a line before it is sent, with the same ID', async () => {
    const { call, log, notes } = await serveAudited();
    const called = call({ server: 'notes', toolName: 'wait' }).catch(() => {});
    await expect.poll(() => notes.calls.length).toBe(1);
    expect(log.entries).toMatchObject([{ id: 'line-1', tool: 'wait', outcome: 'begun' }]);
    expect(log.entries[0]).not.toHaveProperty('ms');
    void called;
  });

  test.each([
    [
      'no such server',
      { server: 'none', toolName: 'x' },
      404,
      { server: 'none', tool: 'x', outcome: 'unknown_server' },
    ],
    ['no such tool', { server: 'notes', toolName: 'x' }, 404, { server: 'notes', tool: 'x', outcome: 'unknown_tool' }],
    [
      'no such answer tool',
      { server: 'openai-responses-mcp', toolName: 'x' },
      404,
      { server: 'openai-responses-mcp', tool: 'x', outcome: 'unknown_tool' },
    ],
    [
      'another input of an answer',
      { server: 'openai-responses-mcp', toolName: 'answer', input: { q: 1 } },
      400,
      { server: 'openai-responses-mcp', tool: 'answer', outcome: 'invalid_arguments', arguments: ['q'] },
    ],
  ])('%s has a line', async (_, body, status, line) => {
    const { call, log } = await serveAudited();
    expect((await call(body)).status).toBe(status);
    expect(log.entries).toMatchObject([line]);
    expect(lastOf(log)).not.toHaveProperty('bytes');
  });

  test('lists, and requests without a call, have none', async () => {
    const { call, get, log, post } = await serveAudited();
    await get('/mcp/tools');
    await get('/mcp/servers');
    await call({ server: 1 });
    await post(legacy('tools/list'));
    expect(log.lines).toEqual([]);
  });

  test('answers 503 without sending the call while the log cannot be written, and answers again when it can', async () => {
    const { call, log, notes, accessLines, untilLogged } = await serveAudited();
    const read = { server: 'notes', toolName: 'read' };
    log.failure = 'ENOSPC';
    // The log has not failed yet, so that the first call is made.
    for (const body of [read, read, { server: 'openai-responses-mcp', toolName: 'x' }]) {
      const reply = await call(body);
      expect([reply.status, reply.headers['retry-after']]).toEqual([503, '1']);
      expect(json(reply)).toMatchObject({ success: false, error: { code: 'AUDIT_UNAVAILABLE', message: NO_AUDIT } });
    }
    expect(notes.calls).toHaveLength(1);
    await untilLogged(3);
    expect(accessLines).toMatchObject([
      { server: 'notes', outcome: 'audit_unavailable' },
      { server: 'notes', outcome: 'audit_unavailable' },
      { reason: 'audit not available' },
    ]);
    log.failure = undefined;
    expect((await call(read)).status).toBe(200);
    expect(log.entries).toMatchObject([{ id: 'line-1' }, { id: 'line-4' }]);
  });
});

describe('over MCP', () => {
  test.each([
    ['notes__read', { server: 'notes', tool: 'read', outcome: 'answered' }],
    ['notes__x', { server: 'notes', tool: 'x', outcome: 'unknown_tool' }],
    ['no__such__tool', { server: '', tool: 'no__such__tool', outcome: 'unknown_tool' }],
    ['nothing', { server: '', tool: 'nothing', outcome: 'unknown_tool' }],
  ])('%s has a line', async (name, line) => {
    const { post, log } = await serveAudited();
    await post(call(name, { b: 1, a: 2 }));
    expect(log.entries).toMatchObject([{ door: 'mcp', ...line, arguments: ['a', 'b'] }]);
    expect(lastOf(log)).not.toHaveProperty('request_id');
  });

  test('an answer has one line, with all arguments', async () => {
    const { post, log } = await serveAudited();
    await post(call('answer', { query: 'What is 404?', other: 1 }));
    expect(log.entries).toMatchObject([{ tool: 'answer', outcome: 'answered', arguments: ['other', 'query'] }]);
    await post(call('answer', {}));
    expect(lastOf(log)).toMatchObject({ tool: 'answer', outcome: 'invalid_arguments', arguments: [] });
    expect(log.lines).toHaveLength(2);
  });

  test('while the log cannot be written, a call is a result with an error, and an answer fails as it always does', async () => {
    const { post, log, notes } = await serveAudited();
    log.failure = 'ENOSPC';
    for (const name of ['notes__read', 'notes__read', 'no__tool', 'nothing']) {
      const { result } = (await post(call(name))).message;
      expect(result).toEqual({ content: [{ type: 'text', text: NO_AUDIT }], isError: true });
    }
    expect(notes.calls).toHaveLength(1);
    const question = { query: 'What is 404?' };
    expect((await post(call('answer', question))).message.error).toMatchObject({
      code: -32001,
      data: { message: NO_AUDIT },
    });
    const { result } = (await post(modern('tools/call', { name: 'answer', arguments: question }))).message;
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('AUDIT_UNAVAILABLE') }] });
  });
});

describe('a tool that is called through another', () => {
  const through = (name: string, called: string) => call(name, { name: called, arguments: { b: 1, a: 2 } });

  test.each([
    ['notes__read', { server: 'notes', tool: 'read', outcome: 'answered' }],
    ['no__tool', { server: '', tool: 'no__tool', outcome: 'unknown_tool' }],
    ['nothing', { server: '', tool: 'nothing', outcome: 'unknown_tool' }],
  ])('%s has the line of a direct call', async (name, line) => {
    const { post, log } = await serveAudited({ search: { isAuto: false, always: [] } });
    await post(call('find_tools', { query: '' }));
    await post(through('call_tool', name));
    expect(log.entries).toMatchObject([{ door: 'mcp', ...line, arguments: ['a', 'b'] }]);
  });
});

describe('with access', () => {
  const rightsOf = rightsBy({ local: { servers: { notes: ['wait'] }, answers: ['answer_quick'] } });

  test.each([
    ['notes', 'read'],
    ['hidden', 'read'],
    ['openai-responses-mcp', 'answer'],
  ])('a refused call of %s/%s has a line that says so', async (server, tool) => {
    const { call: rest, post, log } = await serveAudited({ http: { rightsOf } });
    expect((await rest({ server, toolName: tool, input: { query: 'x' } })).status).toBe(404);
    await post(call(server === 'openai-responses-mcp' ? tool : `${server}__${tool}`));
    expect(log.entries).toMatchObject([
      { door: 'rest', server, tool, outcome: 'denied' },
      { door: 'mcp', server, tool, outcome: 'denied' },
    ]);
  });
});

describe('the trace of a request', () => {
  const BAGGAGE = { traceparent: PARENT, tracestate: 'a=b', baggage: 'user=alice' };

  test('over REST, is that of its headers, and goes to the server, the log and the audit', async () => {
    const { call, notes, log, accessLines, untilLogged, get } = await serveAudited();
    await call({ server: 'notes', toolName: 'read' }, BAGGAGE);
    await get('/mcp/servers', { traceparent: OTHER });
    await call({ server: 'notes', toolName: 'read' });
    expect(notes.last.traces).toEqual([BAGGAGE, undefined]);
    await untilLogged(3);
    expect(accessLines.map(({ traceparent }) => traceparent)).toEqual([PARENT, OTHER, undefined]);
    expect(log.entries.map(({ traceparent }) => traceparent)).toEqual([PARENT, undefined]);
    expect(log.lines.join()).not.toContain('alice');
  });

  test('over MCP, is that of its `_meta`, or else of its headers, in both eras', async () => {
    const { post, notes, accessLines, untilLogged } = await serveAudited();
    const params = (meta: object) => ({ name: 'notes__read', arguments: {}, _meta: meta });
    await post(legacy('tools/call', params(BAGGAGE)), { traceparent: OTHER });
    await post(legacy('tools/call', params({ traceparent: 'x', baggage: 'c=d' })), { traceparent: OTHER });
    await post(modern('tools/call', { name: 'notes__read', arguments: {} }, BAGGAGE));
    await post(legacy('tools/call', params({ traceparent: 'x', tracestate: 'a=b' })));
    expect(notes.last.traces).toEqual([BAGGAGE, { traceparent: OTHER }, BAGGAGE, undefined]);
    await untilLogged(4);
    expect(accessLines.map(({ traceparent }) => traceparent)).toEqual([PARENT, OTHER, PARENT, undefined]);
  });
});

test('a question that is cancelled has a line', async () => {
  const llmSearch = new FakeLlmSearch(hangs);
  const { begin, log } = await serveAudited({ llmSearch });
  const left = begin(call('answer', { query: 'What is 404?' }));
  await expect.poll(() => llmSearch.requests.length).toBe(1);
  left.leave();
  await expect.poll(() => lastOf(log)).toMatchObject({ tool: 'answer', outcome: 'cancelled' });
});
