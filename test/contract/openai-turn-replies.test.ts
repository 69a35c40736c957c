import { describe, expect, test } from 'vitest';
import { toSse } from '../support/api-stream.ts';
import { sendsBody } from '../support/behaviours.ts';
import { calls, reasons, says, searches } from '../support/conversation-items.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { replyOf } from './search-kit.ts';
import { answered, CALL, OK, READ_PAGE, startTurns, turnRequest } from './turn-kit.ts';

describe('the calls of a response', () => {
  test('are its function calls, wherever they are', async () => {
    const { api, ask } = await startTurns();
    api.script([[calls('a', 'wiki__read_page'), reasons('1'), calls('b', 'wiki__read_page'), says('1', 'Wait.')]]);
    const { calls: asked, text } = replyOf(await ask());
    expect(asked.map(({ callId }) => callId)).toEqual(['call_a', 'call_b']);
    expect(text).toBe('Wait.');
  });

  test('none of a response that is not complete', async () => {
    const { api, ask } = await startTurns();
    const items = [calls('a', 'wiki__read_page'), calls('b', 'jira__search_issues', '{"query":"cu', 'incomplete')];
    api.script([{ items, incomplete: 'max_output_tokens' }]);
    const { calls: asked, ending } = replyOf(await ask());
    expect(asked).toEqual([]);
    expect(ending).toEqual({ kind: 'incomplete', reason: 'max_output_tokens' });
  });

  test('none of a response that is incomplete by its last event only', async () => {
    const { api, ask } = await startTurns();
    const response = { id: 'resp_1', output: [calls('a', 'wiki__read_page')] };
    api.script([OK]);
    api.disturb(0, [sendsBody({ body: toSse({ type: 'response.incomplete', response }) })]);
    const { calls: asked, ending } = replyOf(await ask());
    expect(asked).toEqual([]);
    expect(ending).toEqual({ kind: 'incomplete', reason: 'incomplete' });
  });

  test('a call that was cut off is marked', async () => {
    const { api, ask } = await startTurns();
    api.script([[calls('a', 'wiki__read_page', '{"a', 'incomplete')]]);
    expect(replyOf(await ask()).calls).toMatchObject([{ callId: 'call_a', isIncomplete: true }]);
  });

  test('the report and the sources of every round are those of its response', async () => {
    const { api, ask } = await startTurns();
    const citations = [{ url: 'https://example.com/', title: 'Example' }];
    api.script([
      [searches('1', 'q', ['https://a.example/']), says('1', 'See https://example.com/', { citations }), ...CALL],
    ]);
    const reply = replyOf(await ask());
    expect(reply.sources).toEqual({ cited: citations, consulted: ['https://a.example/'], opened: [] });
    expect(reply.report).toMatchObject({
      usage: { inputTokens: 1000, cachedTokens: 400, outputTokens: 50, reasoningTokens: 20 },
      queries: ['q'],
      searches: 1,
      attempts: 1,
    });
  });

  test.each(['commentary', undefined] as const)(
    'a message of phase %s before a call: its citations count',
    async (phase) => {
      const { api, ask } = await startTurns();
      const [one, two] = ['https://a.example/', 'https://b.example/'].map((url) => ({ url, title: url }));
      if (one === undefined || two === undefined) throw new Error('There are two citations.');
      const options = phase === undefined ? {} : { phase };
      api.script([
        [
          says('1', `See ${one.url}`, { ...options, citations: [one] }),
          says('2', `And ${two.url}`, { citations: [two] }),
          ...CALL,
        ],
      ]);
      expect(replyOf(await ask()).sources.cited).toEqual([one, two]);
    },
  );
});

test('the debug log has the parameters of requests, and neither arguments nor outputs', async () => {
  const logger = new RecordingLogger({ isDebug: true });
  const { api, ask } = await startTurns({ logger });
  api.script([CALL, OK]);
  const first = replyOf(await ask());
  replyOf(await ask(turnRequest({ rounds: [answered(first, 'A private text.')], web: 'closed' })));
  replyOf(await ask(turnRequest({ web: 'absent', functions: [READ_PAGE], rounds: [answered(first)] })));
  expect(logger.lines).toHaveLength(3);
  expect(logger.lines[0]).toMatch(
    /^debug openai\(client\): request \{"model":"gpt-5.2",.*"tools":\[\{"type":"web_search",/,
  );
  expect(logger.lines[1]).toContain('"external_web_access":false');
  expect(logger.lines[2]).toContain(`"tools":["${READ_PAGE.name}"]`);
  expect(logger.lines.join()).not.toMatch(/A private text|input|instructions/);
});
