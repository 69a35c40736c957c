import { describe, expect, test } from 'vitest';
import { errorMessage, toMessage } from '../../../../../src/adapters/inbound/mcp/json-rpc.ts';

const BATCH = 'batches are not part of MCP: send one message at a time';
const BAD_ID = 'id must be a string of at most 256 characters, or a number that JSON can represent exactly';

function invalid(reason: string) {
  return { code: -32600, message: `Invalid Request: ${reason}` };
}

describe('a request', () => {
  test.each([0, '', 1.5, 2 ** 53 - 1, 'x'.repeat(256)])('may have the id %j', (id) => {
    expect(toMessage({ jsonrpc: '2.0', id, method: 'ping' })).toEqual({
      kind: 'request',
      id,
      method: 'ping',
      params: {},
    });
  });

  test.each([null, 2 ** 60, undefined, 'x'.repeat(257)])('may not have the id %j', (id) => {
    expect(toMessage({ jsonrpc: '2.0', id, method: 'ping' })).toEqual({ kind: 'invalid', error: invalid(BAD_ID) });
  });

  test.each([
    [null, {}],
    [{ a: 1 }, { a: 1 }],
    [[1], undefined],
  ])('with params %j is read with %j', (params, read) => {
    expect(toMessage({ jsonrpc: '2.0', id: 1, method: 'ping', params })).toEqual({
      kind: 'request',
      id: 1,
      method: 'ping',
      params: read,
    });
  });
});

test('a message with a method and no id is a notification', () => {
  expect(toMessage({ jsonrpc: '2.0', method: 'notifications/initialized' })).toEqual({
    kind: 'notification',
    method: 'notifications/initialized',
    params: {},
  });
});

test.each([
  ['a result', { jsonrpc: '2.0', id: 1, result: {} }, { id: 1, result: {} }],
  ['an error without an id', { jsonrpc: '2.0', error: { code: 1, message: 'x' } }, {}],
])('%s is a response', (_, message, response) => {
  expect(toMessage(message)).toEqual({ kind: 'response', ...response });
});

test.each([
  ['a batch', [{ jsonrpc: '2.0', id: 1, method: 'ping' }], { error: invalid(BATCH) }],
  ['null', null, { error: invalid('a message is a JSON object') }],
  ['a string', 'ping', { error: invalid('a message is a JSON object') }],
  ['JSON-RPC 1.0', { id: 1, method: 'ping' }, { id: 1, error: invalid('jsonrpc must be "2.0"') }],
  ['a message without a method', { jsonrpc: '2.0', id: 0 }, { id: 0, error: invalid('method must be a string') }],
  ['a method that is a number', { jsonrpc: '2.0', id: null, method: 7 }, { error: invalid('method must be a string') }],
])('%s is invalid', (_, value, expected) => {
  expect(toMessage(value)).toEqual({ kind: 'invalid', ...expected });
});

test('an error without an id that could be read has no id', () => {
  expect(JSON.stringify(errorMessage(undefined, { code: -32700, message: 'x' }))).toBe(
    '{"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}',
  );
});
