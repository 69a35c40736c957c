import { expect, test } from 'vitest';
import { remoteFetch } from '../../../../../src/adapters/outbound/mcp-client/remote-fetch.ts';

test('answers at most 100 requests of the server at a time', async () => {
  const waiting: (() => void)[] = [];
  const fetch = () => new Promise<Response>((resolve) => waiting.push(() => resolve(new Response(null))));
  const limited = remoteFetch({ fetch, maxBytes: 1000, deliver: () => {} });
  const answer = () => limited('http://localhost', { method: 'POST', body: '{"jsonrpc":"2.0","id":1,"result":{}}' });
  const answers = Array.from({ length: 100 }, answer);
  await expect(answer()).rejects.toThrow('too many requests');
  void limited('http://localhost', { method: 'POST', body: '{"jsonrpc":"2.0","id":1,"method":"tools/call"}' });
  expect(waiting).toHaveLength(101);
  for (const settle of waiting) settle();
  await Promise.all(answers);
  void answer();
  expect(waiting).toHaveLength(102);
});
