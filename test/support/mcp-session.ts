import { AnswerTools, type AnswerToolsOptions } from '../../src/adapters/inbound/mcp/answer-tools.ts';
import { readMessage } from '../../src/adapters/inbound/mcp/era.ts';
import { McpSession, type McpSessionOptions } from '../../src/adapters/inbound/mcp/session.ts';
import type { Send } from '../../src/adapters/inbound/mcp/tool-set.ts';
import type { Application } from '../../src/application/answers/application.ts';
import { createRedactor } from '../../src/domain/values/redaction.ts';
import { FakeClock } from './fake-clock.ts';
import { RecordingLogger } from './recording-logger.ts';

export type SessionOptions = Partial<Omit<McpSessionOptions, 'application'>> &
  Partial<Omit<AnswerToolsOptions, 'application'>> & { readonly application: Application };

/** The session of one client with the answer tools: a test names only what it is about. */
export function newSession(options: SessionOptions): McpSession {
  const complete = {
    clock: new FakeClock(),
    logger: new RecordingLogger(),
    redactor: createRedactor(),
    serverInfo: { name: 'openai-responses-mcp', version: '1.2.3' },
    toolErrors: 'protocol' as const,
    caller: 'stdio',
    maxAnswerChars: 20_000,
    ...options,
  };
  return new McpSession({ tools: new AnswerTools(complete), ...complete });
}

/** Passes a message to a session, as a transport without headers does. */
export async function receive(session: McpSession, value: unknown, send: Send): Promise<void> {
  const read = readMessage(value);
  if ('rejection' in read) send(read.rejection);
  else await session.receive(read.message, read.era, send);
}
