import { describe, expect, test } from 'vitest';
import { toFailedReply, toToolResult } from '../../../../../src/adapters/inbound/mcp/client-call.ts';
import { messageFor } from '../../../../../src/adapters/inbound/words/error-messages.ts';
import type { AnswerError } from '../../../../../src/domain/answers/answer-error.ts';
import { BUILT_IN_SERVER } from '../../../../../src/domain/gateway/call-origin.ts';
import { createRedactor } from '../../../../../src/domain/values/redaction.ts';
import { answersOf, catalogueOf } from '../../../../support/catalogue.ts';
import { never } from '../../../../support/core.ts';
import { ANSWER, answers, FakeApplication } from '../../../../support/fake-application.ts';
import { LOCAL } from '../../../../support/origins.ts';
import { RecordingLogger } from '../../../../support/recording-logger.ts';

const SILENT = { logger: new RecordingLogger(), redactor: createRedactor(), toolErrors: 'protocol' } as const;
const DEBUG = { ...SILENT, logger: new RecordingLogger({ isDebug: true }) };

const failed = (error: AnswerError, options = SILENT as Parameters<typeof toFailedReply>[2]) =>
  toFailedReply(error, 'legacy', options);

// S36
test('an answer is the JSON of the contract, and the report is in _meta under a name of this server', async () => {
  const call = { server: BUILT_IN_SERVER, tool: 'answer', args: { query: 'What is a 404?' }, by: LOCAL };
  const outcome = await catalogueOf([answersOf(new FakeApplication(answers()))]).call(call, never());
  expect(toToolResult(outcome._unsafeUnwrap().raw, ANSWER)).toEqual({
    content: [{ type: 'text', text: '{"answer":"Not Found.","used_search":false,"citations":[],"model":"gpt-5.2"}' }],
    structuredContent: ANSWER.result,
    _meta: {
      'io.github.uchimanajet7.openai-responses-mcp/report': {
        searches: { count: 0, queries: [] },
        attempts: 1,
        seconds: 1.235,
      },
    },
  });
});

// S16
describe('a failure', () => {
  const diagnostics = { status: 403, type: 'forbidden', name: 'PermissionDeniedError' };
  const forbidden = { kind: 'forbidden', detail: 'Country not supported.', diagnostics } as const;
  const message = messageFor(forbidden);

  test.each([
    ['the message', SILENT, { message }],
    ['with debug, also what the API returned', DEBUG, { message, ...diagnostics }],
  ])('is the error of the contract, and contains %s', (_, options, data) => {
    expect(failed(forbidden, options)).toEqual({ error: { code: -32001, message: 'answer failed', data } });
  });

  test('of the arguments has a different code', () => {
    const problems = [{ argument: 'max_results', received: 0, accepted: 'a whole number from 1' }];
    const error = { kind: 'invalid_arguments', problems } as const;
    expect(failed(error, DEBUG)).toEqual({
      error: { code: -32602, message: `Invalid params: ${messageFor(error)}`, data: { message: messageFor(error) } },
    });
  });

  test('can be a result, for hosts that show only results to their model', () => {
    expect(failed(forbidden, { ...SILENT, toolErrors: 'result' })).toEqual({
      result: { content: [{ type: 'text', text: `answer failed: ${message}` }], isError: true },
    });
  });

  test('shows no key', () => {
    const shown = failed({ ...forbidden, detail: 'Key sk-proj-abcdef is wrong.' });
    expect(JSON.stringify(shown)).toContain('Key [redacted] is wrong.');
  });
});
