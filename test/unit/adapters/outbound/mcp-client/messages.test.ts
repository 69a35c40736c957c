import { array, assert, integer, oneof, property, string } from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  LineReader,
  type MessageEnds,
  readEvent,
  readMessages,
  requestIdIn,
} from '../../../../../src/adapters/outbound/mcp-client/messages.ts';
import { toInitializeResult } from '../../../../../src/adapters/outbound/mcp-client/server-replies.ts';

const response = (result: unknown, id: unknown = 1) => ({ jsonrpc: '2.0', id, result });
const read = (message: unknown, requestId?: number) => readMessages(JSON.stringify(message), requestId)?.values;

// S60
describe('null is absent where MCP defines the members', () => {
  test.each([
    ['a result', { isError: null, _meta: null, content: [] }, { content: [] }],
    [
      'a block',
      { content: [{ type: 'text', text: 'a', annotations: null }, null] },
      { content: [{ type: 'text', text: 'a' }] },
    ],
    [
      'an embedded resource',
      { content: [{ type: 'resource', resource: { uri: 'a:b', text: 'c', mimeType: null } }] },
      { content: [{ type: 'resource', resource: { uri: 'a:b', text: 'c' } }] },
    ],
    [
      'a tool',
      { tools: [{ name: 'a', title: null, annotations: { readOnlyHint: null }, icons: null }], nextCursor: null },
      { tools: [{ name: 'a', annotations: {} }] },
    ],
    [
      'a prompt',
      { prompts: [{ name: 'a', arguments: [{ name: 'b', required: null }] }] },
      { prompts: [{ name: 'a', arguments: [{ name: 'b' }] }] },
    ],
    [
      'capabilities',
      { capabilities: { tools: { listChanged: null }, logging: null } },
      { capabilities: { tools: {} } },
    ],
  ])('%s', (_, written, result) => {
    expect(read(response(written))).toEqual([response(result)]);
  });

  test.each([
    { content: [], structuredContent: { a: null, b: [null] } },
    { content: [], _meta: { a: null } },
    { tools: [{ name: 'a', inputSchema: { properties: { b: { default: null, enum: [null] } } } }] },
    { content: [{ type: 'tool_use', input: { a: null } }] },
    { contents: [{ uri: 'a:b', text: '' }], other: { a: null } },
  ])('and a value of the server elsewhere: %j', (result) => {
    expect(read(response(result))).toEqual([response(result)]);
  });

  test('a request and a notification', () => {
    const list = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };
    expect(read({ ...list, params: null })).toEqual([list]);
    expect(read({ jsonrpc: '2.0', id: 0, method: 'ping', params: { _meta: null } })).toEqual([
      { jsonrpc: '2.0', id: 0, method: 'ping', params: {} },
    ]);
  });
});

describe('an answer has the form of JSON-RPC', () => {
  const error = { code: -32602, message: 'no' };
  test.each([
    ['a result beside error: null', { ...response({}), error: null }, response({})],
    ['a result beside an empty error', { ...response({}), error: '' }, response({})],
    ['an error beside result: null', { jsonrpc: '2.0', id: 1, result: null, error }, { jsonrpc: '2.0', id: 1, error }],
    ['data: null', { id: 1, error: { ...error, data: null } }, { jsonrpc: '2.0', id: 1, error }],
    ['a code as text', { id: 1, error: { ...error, code: '-32602' } }, { jsonrpc: '2.0', id: 1, error }],
    ['an error as text', { id: 1, error: 'no' }, { jsonrpc: '2.0', id: 1, error: { code: 0, message: 'no' } }],
    [
      'an error without words',
      { id: 1, error: { code: 5, message: null } },
      { jsonrpc: '2.0', id: 1, error: { code: 5, message: 'the server gave no reason' } },
    ],
    [
      'the words in data',
      { id: 1, error: { code: 5, data: 'no' } },
      { jsonrpc: '2.0', id: 1, error: { code: 5, data: 'no', message: 'no' } },
    ],
    [
      'an object as message',
      { id: 1, error: { code: 5, message: { why: 'no' } } },
      { jsonrpc: '2.0', id: 1, error: { code: 5, message: '{"why":"no"}' } },
    ],
    [
      'members of its own',
      { id: 1, error: { detail: 'no' } },
      { jsonrpc: '2.0', id: 1, error: { code: 0, detail: 'no', message: '{"detail":"no"}' } },
    ],
    ['no version', { id: 1, result: {} }, response({})],
    ['a list as _meta', response({ _meta: [] }), response({})],
  ])('%s', (_, written, message) => {
    expect(read(written)).toEqual([message]);
  });

  test.each([{ id: null }, {}])('without an ID, it answers the only request: %j', (id) => {
    expect(read({ jsonrpc: '2.0', ...id, error }, 7)).toEqual([{ jsonrpc: '2.0', id: 7, error }]);
    expect(read({ jsonrpc: '2.0', ...id, error })).toEqual([{ jsonrpc: '2.0', error }]);
  });

  test.each([1, '1', 'server', null])('in a whole body, its ID is that of the request, not %j', (id) => {
    const whole = readMessages(JSON.stringify(response({}, id)), 7, undefined, 'whole');
    expect(whole).toEqual({ values: [response({}, 7)], isAsWritten: false });
  });

  test('a value that is no message stays as it is', () => {
    expect(read({ answer: 42 })).toEqual([{ answer: 42 }]);
    expect(readMessages('nonsense')).toBeUndefined();
  });

  test('a list has its messages', () => {
    expect(read([response({ _meta: null }), response({}, 2)])).toEqual([response({}), response({}, 2)]);
  });
});

describe('an event', () => {
  const eventOf = (text: string) => Buffer.from(readEvent(Buffer.from(text), 3).bytes).toString();

  test('has the message as MCP specifies it', () => {
    const written =
      'id: 7\nevent: message\nretry: 5\ndata: {"jsonrpc":"2.0",\ndata: "id":1,"result":{"_meta":null}}\n\n';
    expect(eventOf(written)).toBe('retry: 5\nid: 7\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n');
    expect(eventOf('data: \uFEFF{"jsonrpc":"2.0","id":1,"result":{}}\n\n')).toBe(
      'data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n',
    );
  });

  test.each([
    'event: endpoint\ndata: /messages\n\n',
    ': ping\n\n',
    'data: \n\n',
    'data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n',
  ])('stays as it is: %j', (text) => expect(eventOf(text)).toBe(text));
});

describe('the result of `initialize`', () => {
  const identity = { name: 'a', version: '1' };
  test.each([
    ['nothing but the revision', {}, { capabilities: {}, serverInfo: { name: '', version: '' } }],
    [
      'a name without a version',
      { serverInfo: { name: 'a' } },
      { capabilities: {}, serverInfo: { name: 'a', version: '' } },
    ],
    [
      'lists in place of objects',
      { capabilities: { tools: [], prompts: true, logging: false }, serverInfo: identity },
      { capabilities: { tools: {}, prompts: {} }, serverInfo: identity },
    ],
    [
      'a member of another kind',
      { capabilities: { tools: { listChanged: 'yes' } }, serverInfo: identity, instructions: 5 },
      { capabilities: { tools: {} }, serverInfo: identity },
    ],
  ])('is usable with %s', (_, written, result) => {
    expect(toInitializeResult({ protocolVersion: '2025-06-18', ...written }, '2025-11-25')).toEqual({
      protocolVersion: '2025-06-18',
      ...result,
    });
  });

  test.each([undefined, '', 20250618])('has the revision that was asked for in place of %j', (protocolVersion) => {
    expect(toInitializeResult({ protocolVersion }, '2025-11-25')).toMatchObject({ protocolVersion: '2025-11-25' });
  });
});

const FILL = 'x'.repeat(1000);
const idOf = (message: string) => requestIdIn(message.slice(0, 256), message.slice(-256));

describe('a message of which only the start and the end were kept', () => {
  test('has its ID at the start or at the end, in every order that servers write', () => {
    assert(
      property(oneof(integer({ min: 0 }), string({ maxLength: 40 })), (id) => {
        const text = JSON.stringify(id);
        const result = JSON.stringify({ content: [{ type: 'text', text: FILL, id: 999 }] });
        for (const message of [
          `{"jsonrpc":"2.0","id":${text},"result":${result}}`,
          `{"id":${text},"jsonrpc":"2.0","result":${result}}`,
          `{"jsonrpc":"2.0","result":${result},"id":${text}}`,
          `{"result":${result},"jsonrpc":"2.0","id":${text}}`,
          `{"result":${result},"id":${text},"jsonrpc":"2.0"}`,
          ` { "jsonrpc" : "2.0" , "id" : ${text} , "error" : ${result} } \r`,
          `{"id":${text},"error":${result},"jsonrpc":"2.0"}`,
        ]) {
          expect(idOf(message)).toBe(id);
        }
      }),
    );
  });

  test.each([
    ['a notification', `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"${FILL}"}}`],
    ['a request', `{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{"data":"${FILL}"}}`],
    ['a notification with its parameters first', `{"jsonrpc":"2.0","params":{"data":"${FILL}"},"method":"a"}`],
  ])('is not a response if it is %s', (_, message) => {
    expect(idOf(message)).toBeUndefined();
  });

  test.each([
    ['its ID is in the middle', `{"jsonrpc":"2.0","more":"${FILL}","id":7,"result":{"a":"${FILL}"}}`],
    ['the ID is that of something inside', `{"jsonrpc":"2.0","more":1,"result":{"a":"${FILL}","id":7}}`],
    ['it is not an object', `["${FILL}"]`],
    ['its ID has an escape that JSON does not know', `{"jsonrpc":"2.0","id":"\\q","result":{"a":"${FILL}"}}`],
  ])('is unknown if %s', (_, message) => {
    expect(idOf(message)).toBe('unknown');
  });
});

function readAll(bytes: Buffer, sizes: readonly number[], maxBytes: number): readonly (string | MessageEnds)[] {
  const reader = new LineReader(maxBytes);
  const lines: (string | MessageEnds)[] = [];
  let start = 0;
  for (let index = 0; start < bytes.length; index += 1) {
    const size = sizes[index % sizes.length] ?? 1;
    for (const line of reader.linesOf(bytes.subarray(start, start + size)))
      lines.push('start' in line ? line : line.toString());
    start += size;
  }
  return lines;
}

const text = string({ unit: 'grapheme', maxLength: 40 }).map((line) => line.replaceAll('\n', ''));
const sizes = array(integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 10 });

test('reads the same lines, however they are divided into chunks', () => {
  assert(
    property(array(text, { maxLength: 20 }), sizes, (lines, sizes) => {
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
      expect(readAll(bytes, sizes, 1000)).toEqual(lines);
    }),
  );
});

test('keeps the start and the end of a line that is too long, and the lines around it', () => {
  assert(
    property(integer({ min: 1, max: 5000 }), integer({ min: 1, max: 3000 }), sizes, (length, maxBytes, sizes) => {
      const long = Array.from({ length }, (_, index) => String.fromCharCode(97 + (index % 26))).join('');
      const ends = { start: long.slice(0, 1024), end: long.slice(-1024) };
      expect(readAll(Buffer.from(`a\n${long}\nb\n`), sizes, maxBytes)).toEqual([
        'a',
        length > maxBytes ? ends : long,
        'b',
      ]);
    }),
  );
});
