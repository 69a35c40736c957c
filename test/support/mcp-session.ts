import { expect } from 'vitest';
import { readMessage } from '../../src/adapters/inbound/mcp/era.ts';
import { ExposedTools, type ExposedToolsOptions } from '../../src/adapters/inbound/mcp/exposed-tools.ts';
import type { OutgoingMessage } from '../../src/adapters/inbound/mcp/json-rpc.ts';
import { McpSession, type McpSessionOptions } from '../../src/adapters/inbound/mcp/session.ts';
import type { Send } from '../../src/adapters/inbound/mcp/tool-set.ts';
import type { Application } from '../../src/application/answers/application.ts';
import { createRedactor } from '../../src/domain/values/redaction.ts';
import { answersOf, catalogueOf } from './catalogue.ts';
import { FakeClock } from './fake-clock.ts';
import { LOCAL } from './origins.ts';
import { RecordingLogger } from './recording-logger.ts';

export type SessionOptions = Partial<Omit<McpSessionOptions, 'application'>> &
  Partial<Omit<ExposedToolsOptions, 'catalogue'>> & { readonly application: Application };

/** The session of one client with the answer tools: a test names only what it is about. */
export function newSession(options: SessionOptions): McpSession {
  const complete = {
    clock: new FakeClock(),
    logger: new RecordingLogger(),
    redactor: createRedactor(),
    serverInfo: { name: 'openai-responses-mcp', version: '1.2.3' },
    toolErrors: 'protocol' as const,
    by: LOCAL,
    ...options,
  };
  const catalogue = catalogueOf([answersOf(complete.application)], complete);
  return new McpSession({ tools: new ExposedTools({ ...complete, catalogue }), ...complete });
}

/** Passes a message to a session, as a transport without headers does. */
export async function receive(session: McpSession, value: unknown, send: Send): Promise<void> {
  const read = readMessage(value);
  if ('rejection' in read) send(read.rejection);
  else await session.receive(read.message, read.era, send);
}

/** What a client does with a session: `sent` has what it receives. */
export function clientOf(session: McpSession) {
  const sent: OutgoingMessage[] = [];
  const send = (message: object) => receive(session, { jsonrpc: '2.0', ...message }, (one) => sent.push(one));
  let nextId = 1;
  const request = async (method: string, params: object = {}, id: string | number = nextId++) => {
    await send({ id, method, params });
    return sent.find((message) => 'id' in message && message.id === id);
  };
  const resultOf = async (method: string, params: object = {}) => {
    const response = await request(method, params);
    return response !== undefined && 'result' in response ? response.result : expect.fail(JSON.stringify(response));
  };
  const call = (name: string, args: object = {}, meta?: object) =>
    request('tools/call', { name, arguments: args, ...(meta && { _meta: meta }) });
  return { sent, send, request, resultOf, call };
}

/** What a request of the modern era has in its `_meta`. */
export const MODERN = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

export const ANSWERS = ['answer', 'answer_detailed', 'answer_quick'];
