import { err } from 'neverthrow';
import { expect, test } from 'vitest';
import { toolErrorMessage } from '../../../../src/adapters/inbound/words/tool-error-messages.ts';
import type { ToolCatalogue } from '../../../../src/application/tools/tool-catalogue.ts';
import { BUILT_IN_SERVER } from '../../../../src/domain/gateway/call-origin.ts';
import { answersOf, catalogueOf } from '../../../support/catalogue.ts';
import { ask, never, startCore } from '../../../support/core.ts';
import { startAudit } from '../../../support/fake-audit.ts';
import {
  asks,
  type ConfiguredReply,
  calls,
  FakeLlmSearch,
  fails,
  says as replies,
} from '../../../support/fake-llm-search.ts';
import { policyOf } from '../../../support/grounding.ts';
import { LOCAL } from '../../../support/origins.ts';
import { startScripted } from '../../../support/scripted-gateway.ts';
import { ScriptedToolServer, says } from '../../../support/scripted-tool-server.ts';

const TRACE = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' };
const BY = { ...LOCAL, door: 'rest', requestId: 'r-1', trace: TRACE } as const;

async function startAnswers(...configured: readonly ConfiguredReply[]) {
  const started = startAudit();
  const { audit, clock, logger, redactor } = started;
  const jira = new ScriptedToolServer({
    get: { script: says('One.'), annotations: { readOnlyHint: true } },
    close: says('Closed.'),
  });
  const gateway = startScripted({ jira }, { clock });
  const startGateway = async () => ({ gateway, isPublic: () => true, call: catalogue.call.bind(catalogue) });
  const llmSearch = new FakeLlmSearch(...configured);
  const grounding = {
    policy: policyOf({ tools: { jira: ['get', 'close'] }, callers: ['local'] }),
    startGateway,
    messageFor: toolErrorMessage,
    redactor,
  };
  const { application } = startCore({ llmSearch, clock, logger, grounding });
  const catalogue: ToolCatalogue = catalogueOf([gateway, answersOf(application)], { audit, clock });
  const { observer: _, ...question } = ask({ by: BY });
  return {
    ...started,
    jira,
    llmSearch,
    answer: () => catalogue.call({ ...question, server: BUILT_IN_SERVER }, never()),
  };
}

test('a call of the model names the line of its answer, and has its trace', async () => {
  const { log, jira, answer } = await startAnswers(asks(calls('jira__get')), replies('One is open.'));
  expect((await answer()).isOk()).toBe(true);
  const { traceparent } = TRACE;
  const [call, answered] = log.entries;
  expect(call).toMatchObject({
    id: 'line-2',
    answer: 'line-1',
    door: 'answer',
    server: 'jira',
    tool: 'get',
    traceparent,
  });
  expect(call).not.toHaveProperty('request_id');
  expect(answered).toMatchObject({ id: 'line-1', request_id: 'r-1', door: 'rest', tool: 'answer', traceparent });
  expect(answered).not.toHaveProperty('answer');
  expect(jira.last.traces).toEqual([TRACE]);
});

test('the model gets an error of one line while a call cannot be recorded', async () => {
  const { log, llmSearch, jira, answer } = await startAnswers(asks(calls('jira__get')), replies('I do not know.'));
  // The log fails with the first line, that of the call of the model.
  log.failure = 'ENOSPC';
  expect(await answer()).toMatchObject({ error: { kind: 'unrecorded' } });
  expect(jira.calls).toHaveLength(1);
  const output = llmSearch.conversations.at(-1)?.rounds[0]?.outputs[0]?.output.text;
  expect(output).toMatch(/^error: CALL_UNRECORDED: [^\n]+ Do not repeat it[^\n]+$/);
});

// S66
test('an answer that fails after calls names the tools that may have had effects', async () => {
  const { jira, answer } = await startAnswers(
    asks(calls('jira__get')),
    asks(calls('jira__close')),
    asks(calls('jira__close')),
    fails({ kind: 'server_error', attempts: 3, detail: 'Down.' }),
  );
  expect(await answer()).toMatchObject({ error: { error: { kind: 'server_error', effects: ['jira/close'] } } });
  expect(jira.calls.map(({ tool }) => tool)).toEqual(['get', 'close', 'close']);
});

test('an answer that fails after calls that changed nothing names none', async () => {
  const { answer } = await startAnswers(asks(calls('jira__get')), fails({ kind: 'content_filtered' }));
  expect(await answer()).toEqual(err({ kind: 'answer_failed', error: { kind: 'content_filtered' } }));
});

test('a failed answer has a line with its failure', async () => {
  const { log, answer } = await startAnswers(fails({ kind: 'content_filtered' }));
  await answer();
  expect(log.entries).toMatchObject([{ tool: 'answer', outcome: 'content_filtered' }]);
});
