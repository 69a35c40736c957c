import { expect, test } from 'vitest';
import { toKeptCall } from '../../../../../../src/adapters/inbound/http/mcp/mcp-endpoint.ts';

const call = (params: object | undefined) =>
  toKeptCall({ kind: 'request', id: 1, method: 'tools/call', params: params as never });

test('keeps of a call of an answer tool only what is used', () => {
  const args = { query: 'q', recency_days: 7, max_results: null, domains: ['a.jp'] };
  const { params } = call({
    name: 'answer',
    arguments: { ...args, unknown: 'x' },
    _meta: { progressToken: 0, 'com.example/more': {} },
    unknown: 'x',
  });
  expect(params).toEqual({ name: 'answer', arguments: args, _meta: { progressToken: 0 } });
});

test('keeps the arguments of other tools, and those that are not valid', () => {
  for (const params of [
    { name: 'files__read', arguments: { path: 'a' } },
    { name: 'answer', arguments: 'text' },
    { name: 1, arguments: { a: 1 } },
  ])
    expect(call(params).params).toEqual({ ...params, _meta: undefined });
  expect(call(undefined).params).toBeUndefined();
  expect(call({ name: 'answer' }).params).toEqual({ name: 'answer' });
});
