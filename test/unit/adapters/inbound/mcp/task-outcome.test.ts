import { ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { AnswerTools } from '../../../../../src/adapters/inbound/mcp/answer-tools.ts';
import type { CallReport } from '../../../../../src/adapters/inbound/mcp/call-meter.ts';
import type { ToolCall } from '../../../../../src/adapters/inbound/mcp/tool-set.ts';
import { never } from '../../../../support/core.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { LOCAL } from '../../../../support/origins.ts';
import { RecordingLogger } from '../../../../support/recording-logger.ts';
import { redactorOf } from '../../../../support/redactor.ts';

const RESULT = { answer: 'Later.', used_search: false, citations: [], model: 'gpt-5.2' };
const REPORT = { queries: [], searches: 0, attempts: 1, seconds: 30 };

test.each([
  ['task', 'unfinished', true],
  ['unfinished', 'unfinished', false],
  ['answered', undefined, true],
] as const)(
  'a call has the outcome %s if its answer is %s, and its client takes tasks: %s',
  async (outcome, state, takesTask) => {
    const reports: CallReport[] = [];
    const tools = new AnswerTools({
      application: { answerQuery: async () => ok({ result: RESULT, report: { ...REPORT, ...(state && { state }) } }) },
      tasks: {
        declaredIn: () => (takesTask ? {} : undefined),
        toTask: async () => undefined,
      } as never,
      clock: new FakeClock(),
      logger: new RecordingLogger(),
      redactor: redactorOf(),
      toolErrors: 'protocol',
      maxAnswerChars: 20_000,
    });
    const observer = {
      onStarted: () => {},
      onWaiting: () => {},
      onEnded: (report: CallReport) => reports.push(report),
    };
    const call: ToolCall = {
      name: 'answer_detailed',
      args: {},
      meta: {},
      by: LOCAL,
      era: 'modern',
      observer,
    } as never;
    await tools.call(call, () => {}, never());
    expect(reports).toMatchObject([{ outcome }]);
  },
);
