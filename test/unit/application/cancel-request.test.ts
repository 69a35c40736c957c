import { expect, test } from 'vitest';
import { ask, never, startCore } from '../../support/core.ts';
import { settled } from '../../support/fake-clock.ts';
import { FakeLlmSearch, hangs, replies } from '../../support/fake-llm-search.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';

const debugLogger = () => new RecordingLogger({ isDebug: true });

test('an unknown id is ignored', () => {
  const logger = debugLogger();
  startCore({ logger }).app.cancelRequest({ requestKey: 'test/9', requestId: 9 });
  expect(logger.lines).toEqual([]);
});

test('a question that is answered is ignored', async () => {
  const logger = debugLogger();
  const { app } = startCore({ logger });
  await app.answerQuery(ask(), never());
  const before = logger.lines.length;
  app.cancelRequest({ requestKey: 'test/1', requestId: 1 });
  expect(logger.lines).toHaveLength(before);
});

test('only the question of that key is stopped', async () => {
  const { app, llmSearch } = startCore({ llmSearch: new FakeLlmSearch(hangs, replies()) });
  const first = app.answerQuery(ask({ requestKey: 'a/1', args: { query: 'one' } }), never());
  const second = app.answerQuery(ask({ requestKey: 'b/1', args: { query: 'two' } }), never());
  await settled();
  app.cancelRequest({ requestKey: 'a/1', requestId: 1 });
  expect((await first).isErr()).toBe(true);
  expect((await second).isOk()).toBe(true);
  expect(llmSearch.requests).toHaveLength(2);
});

test('is told in the log with id and reason, and no more', async () => {
  const logger = debugLogger();
  const { app } = startCore({ llmSearch: new FakeLlmSearch(hangs), logger });
  const answer = app.answerQuery(ask(), never());
  app.cancelRequest({ requestKey: 'test/1', requestId: 'abc', reason: 'the user left' });
  await answer;
  expect(logger.lines).toContain('debug server: cancelled requestId=abc reason=the user left');
});
