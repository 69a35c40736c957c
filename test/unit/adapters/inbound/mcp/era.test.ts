import { describe, expect, test } from 'vitest';
import type { OutgoingMessage } from '../../../../../src/adapters/inbound/mcp/json-rpc.ts';
import { answerToolList } from '../../../../../src/adapters/inbound/mcp/tool-schemas.ts';
import { answers, FakeApplication, failsWith } from '../../../../support/fake-application.ts';
import { MODERN, newSession, receive } from '../../../../support/mcp-session.ts';

const STAMP = { 'io.modelcontextprotocol/serverInfo': { name: 'openai-responses-mcp', version: '1.2.3' } };

async function answerTo(method: string, params: object, application = new FakeApplication()) {
  const sent: OutgoingMessage[] = [];
  const session = newSession({ application });
  await receive(session, { jsonrpc: '2.0', id: 1, method, params }, (message) => sent.push(message));
  expect(sent).toHaveLength(1);
  return sent[0];
}

const modern = (method: string, params: object = {}, application?: FakeApplication) =>
  answerTo(method, { _meta: MODERN, ...params }, application);
const call = (application: FakeApplication) =>
  modern('tools/call', { name: 'answer', arguments: { query: 'q' } }, application);

describe('a request with an envelope', () => {
  test('discovers the server', async () => {
    expect(await modern('server/discover')).toMatchObject({
      result: {
        resultType: 'complete',
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: {} },
        ttlMs: 3_600_000,
        cacheScope: 'public',
        _meta: STAMP,
      },
    });
  });

  test('lists the tools', async () => {
    expect(await modern('tools/list')).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: {
        resultType: 'complete',
        tools: answerToolList(20_000),
        ttlMs: 3_600_000,
        cacheScope: 'public',
        _meta: STAMP,
      },
    });
  });

  test('gets a complete result that names the server and must not be cached', async () => {
    const answer = await call(new FakeApplication(answers()));
    expect(answer).toMatchObject({ result: { resultType: 'complete', content: [{ type: 'text' }], _meta: STAMP } });
    expect(JSON.stringify(answer)).not.toMatch(/ttlMs|cacheScope/);
  });

  test('gets its failure as a result', async () => {
    const content = [{ type: 'text', text: expect.stringMatching(/^answer failed: /) }];
    expect(await call(new FakeApplication(failsWith({ kind: 'content_filtered' })))).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: { resultType: 'complete', content, isError: true, _meta: STAMP },
    });
  });

  test.each(['initialize', 'ping'])('has no method %s', async (method) => {
    expect(await modern(method)).toMatchObject({ error: { code: -32601, message: `Method not found: ${method}` } });
  });
});

describe('an envelope', () => {
  // S12
  test.each(['2025-06-18', ''])('of version "%s" is rejected', async (version) => {
    const _meta = { ...MODERN, 'io.modelcontextprotocol/protocolVersion': version };
    expect(await answerTo('tools/list', { _meta })).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: {
        code: -32022,
        message: 'Unsupported protocol version',
        data: { supported: ['2026-07-28'], requested: version },
      },
    });
  });

  test.each([
    ['protocolVersion', null],
    ['clientCapabilities', undefined],
    ['clientInfo', { name: 'me' }],
    ['clientInfo', { version: '1' }],
    ['logLevel', 'loud'],
  ])('whose %s is %j is rejected, and never treated as absent', async (name, value) => {
    const _meta = { ...MODERN, [`io.modelcontextprotocol/${name}`]: value };
    const answer = await answerTo('tools/list', { _meta });
    expect(answer).toMatchObject({ error: { code: -32602 } });
    expect(JSON.stringify(answer)).toContain(`io.modelcontextprotocol/${name}`);
  });

  test('may contain unknown fields', async () => {
    const _meta = {
      ...MODERN,
      'io.modelcontextprotocol/clientInfo': { name: 'me', version: '1', title: 'Me' },
      'io.modelcontextprotocol/logLevel': 'debug',
      'com.example/x': [1],
    };
    expect(await answerTo('tools/list', { _meta })).toMatchObject({ result: { resultType: 'complete' } });
  });
});

test('server/discover without an envelope is an error', async () => {
  expect(await answerTo('server/discover', {})).toMatchObject({ error: { code: -32602 } });
});
