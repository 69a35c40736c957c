import { expect, onTestFinished, test, vi } from 'vitest';
import { ResponseEvents } from '../../../../../src/adapters/outbound/openai/response-events.ts';
import { createRedactor } from '../../../../../src/domain/values/redaction.ts';

function events() {
  const context = { model: 'm', apiKeyVariable: 'KEY', route: 'api.test', attempt: 1, redactor: createRedactor() };
  const all = new ResponseEvents(context);
  return { all, take: (type: string, more: object) => all.take(type, JSON.stringify({ type, ...more })) };
}

test.each(['response.created', 'response.in_progress'])('the ID is read from %s if it comes first', (type) => {
  const { all, take } = events();
  take(type, { response: { id: 'resp_1' } });
  expect(all.id).toBe('resp_1');
});

test('the data of an event of which nothing is read is not parsed', () => {
  const { take } = events();
  take('response.created', { response: { id: 'resp_1' } });
  const parse = vi.spyOn(JSON, 'parse');
  onTestFinished(() => parse.mockRestore());
  take('response.in_progress', { response: { id: 'resp_1', instructions: 'Answer well.' } });
  take('response.output_text.done', { text: 'The complete text.' });
  expect(parse).not.toHaveBeenCalled();
  take('response.output_text.delta', { delta: 'The' });
  expect(parse).toHaveBeenCalledTimes(1);
});
