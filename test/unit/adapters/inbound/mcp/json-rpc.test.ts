import { describe, expect, test } from 'vitest';
import { errorMessage, toMessage } from '../../../../../src/adapters/inbound/mcp/json-rpc.ts';

const BATCH = 'batches are not part of MCP: send one message at a time';
const BAD_ID = 'id must be a string of at most 256 characters, or a number that JSON can represent exactly';

function invalid(reason: string) {
  return { code: -32600, message: `Invalid Request: ${reason}` };
}

describe('a request', () => {
  test.each([0, '', 1, -1, 1.5, 'abc', '1', 2 ** 53 - 1, 'x'.repeat(256)])('may have the id %j', (id) => {
    expect(toMessage({ jsonrpc: '2.0', id, method: 'ping' })).toEqual({
      kind: 'request',
      id,
      method: 'ping',
      params: {},
    });
  });

  test.each([[null], [2 ** 60], [true], [{}], [[1]], [undefined], ['x'.repeat(257)]])(
    'may not have the id %j',
    (id) => {
      expect(toMessage({ jsonrpc: '2.0', id, method: 'ping' })).toEqual({ kind: 'invalid', error: invalid(BAD_ID) });
    },
  );

  test.each([
    [undefined, {}],
    [null, {}],
    [{ a: 1 }, { a: 1 }],
    [[1], undefined],
    ['text', undefined],
    [7, undefined],
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
  ['a result', { jsonrpc: '2.0', id: 1, result: {} }],
  ['an error', { jsonrpc: '2.0', id: 1, error: { code: 1, message: 'x' } }],
  ['an error without an id', { jsonrpc: '2.0', error: { code: 1, message: 'x' } }],
  ['an error with the id null', { jsonrpc: '2.0', id: null, error: { code: 1, message: 'x' } }],
])('%s is a response that nothing waits for', (_, message) => {
  expect(toMessage(message)).toEqual({ kind: 'response' });
});

describe('an invalid message', () => {
  test.each([
    ['an empty batch', [], { error: invalid(BATCH) }],
    ['a batch', [{ jsonrpc: '2.0', id: 1, method: 'ping' }], { error: invalid(BATCH) }],
    ['null', null, { error: invalid('a message is a JSON object') }],
    ['a number', 7, { error: invalid('a message is a JSON object') }],
    ['a string', 'ping', { error: invalid('a message is a JSON object') }],
    ['an empty object', {}, { error: invalid('jsonrpc must be "2.0"') }],
    ['JSON-RPC 1.0', { id: 1, method: 'ping' }, { id: 1, error: invalid('jsonrpc must be "2.0"') }],
    [
      'a number for the version',
      { jsonrpc: 2.0, id: 1, method: 'ping' },
      { id: 1, error: invalid('jsonrpc must be "2.0"') },
    ],
    ['no method', { jsonrpc: '2.0', id: 'a' }, { id: 'a', error: invalid('method must be a string') }],
    [
      'a method that is not a string',
      { jsonrpc: '2.0', id: 0, method: 7 },
      { id: 0, error: invalid('method must be a string') },
    ],
    ['no method and no usable id', { jsonrpc: '2.0', id: null }, { error: invalid('method must be a string') }],
  ])('%s', (_, value, expected) => {
    expect(toMessage(value)).toEqual({ kind: 'invalid', ...expected });
  });
});

test('an error without an id that could be read has no id', () => {
  expect(JSON.stringify(errorMessage(undefined, { code: -32700, message: 'x' }))).toBe(
    '{"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}',
  );
});
