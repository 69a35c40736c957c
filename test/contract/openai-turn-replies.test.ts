import { describe, expect, test } from 'vitest';
import { toSse } from '../support/api-stream.ts';
import { sendsBody } from '../support/behaviours.ts';
import { calls, reasons, says, searches } from '../support/conversation-items.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { replyOf } from './search-kit.ts';
import { answered, CALL, OK, READ_PAGE, startTurns, turnRequest } from './turn-kit.ts';

describe('the calls of a response', () => {
  test('are its function calls, wherever they are, and one that was cut off is marked', async () => {
    const { api, ask } = await startTurns();
    const cut = calls('b', 'wiki__read_page', '{"a', 'incomplete');
    api.script([[calls('a', 'wiki__read_page'), reasons('1'), cut, says('1', 'Wait.')]]);
    const { calls: asked, text } = replyOf(await ask());
    expect(asked).toEqual([
      { callId: 'call_a', name: 'wiki__read_page', arguments: '{}', isIncomplete: false },
      { callId: 'call_b', name: 'wiki__read_page', arguments: '{"a', isIncomplete: true },
    ]);
    expect(text).toBe('Wait.');
  });

  test('are none if the response is not complete', async () => {
    const { api, ask } = await startTurns();
    api.script([{ items: [calls('a', 'wiki__read_page')], incomplete: 'max_output_tokens' }]);
    const { calls: asked, ending } = replyOf(await ask());
    expect(asked).toEqual([]);
    expect(ending).toEqual({ kind: 'incomplete', reason: 'max_output_tokens' });
  });

  test('are none if only the last event says that the response is not complete', async () => {
    const { api, ask } = await startTurns();
    const response = { id: 'resp_1', output: [calls('a', 'wiki__read_page')] };
    api.script([OK]);
    api.disturb(0, sendsBody({ body: toSse({ type: 'response.incomplete', response }) }));
    const { calls: asked, ending } = replyOf(await ask());
    expect(asked).toEqual([]);
    expect(ending).toEqual({ kind: 'incomplete', reason: 'incomplete' });
  });
});

test('the report and the sources of a round are those of its response', async () => {
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

test('the debug log has the parameters of requests, and neither arguments nor outputs', async () => {
  const logger = new RecordingLogger({ isDebug: true });
  const { api, ask } = await startTurns({ logger });
  api.script([CALL, OK]);
  const first = replyOf(await ask());
  const rounds = [answered(first, 'A private text.')];
  replyOf(await ask(turnRequest({ rounds, web: 'closed', functions: [READ_PAGE] })));
  const requests = logger.lines.filter((line) => line.startsWith('debug openai(client): request '));
  expect(requests).toHaveLength(2);
  expect(requests[0]).toMatch(
    /^debug openai\(client\): request \{"model":"gpt-5.2",.*"tools":\[\{"type":"web_search",/,
  );
  expect(requests[1]).toContain(`"external_web_access":false},"${READ_PAGE.name}"]`);
  expect(logger.lines.join()).not.toMatch(/A private text|input|instructions/);
});
