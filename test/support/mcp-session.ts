import { McpSession, type McpSessionOptions } from '../../src/adapters/inbound/mcp/mcp-session.ts';
import { createRedactor } from '../../src/domain/redaction.ts';
import { FakeClock } from './fake-clock.ts';
import { RecordingLogger } from './recording-logger.ts';

/** The session of one client: a test names only what it is about. */
export function newSession(options: Pick<McpSessionOptions, 'application'> & Partial<McpSessionOptions>): McpSession {
  return new McpSession({
    clock: new FakeClock(),
    logger: new RecordingLogger(),
    redactor: createRedactor([]),
    serverInfo: { name: 'openai-responses-mcp', version: '1.2.3' },
    toolErrors: 'protocol',
    sessionKey: 'stdio',
    caller: 'stdio',
    maxAnswerChars: 20_000,
    ...options,
  });
}
