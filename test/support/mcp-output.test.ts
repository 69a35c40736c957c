import { expect, test } from 'vitest';
import { McpOutputReader } from './mcp-output.ts';

function read(bytes: Buffer, chunkBytes: number): unknown[] {
  const seen: unknown[] = [];
  const reader = new McpOutputReader({
    message: (message, framing) => void seen.push([framing, message]),
    junk: (text) => void seen.push(['junk', text]),
  });
  for (let at = 0; at < bytes.length; at += chunkBytes) reader.push(bytes.subarray(at, at + chunkBytes));
  reader.end();
  return seen;
}

function frame(json: string): string {
  return `Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`;
}

test.each([1, 2, 7, 10_000])('finds lines, frames and junk in chunks of %i bytes', (chunkBytes) => {
  const bytes = Buffer.from(
    [
      '{"id":1,"result":{"a":"🗻"}}\n',
      'hello\n',
      frame('{"id":2,"result":{"a":"富士山\\n"}}'),
      frame('{"method":"m"}'),
      frame('nonsense'),
      '\n',
      '[]\n',
      '{"id":"3"}\n',
      '{"cut',
    ].join(''),
  );
  expect(read(bytes, chunkBytes)).toEqual([
    ['line', { id: 1, result: { a: '🗻' } }],
    ['junk', 'hello\n'],
    ['framed', { id: 2, result: { a: '富士山\n' } }],
    ['framed', { method: 'm' }],
    ['junk', 'nonsense'],
    ['junk', '\n'],
    ['junk', '[]\n'],
    ['line', { id: '3' }],
    ['junk', '{"cut'],
  ]);
});

test('reads frames with other headers, and reports a frame without a length as junk', () => {
  const bytes = Buffer.from('Content-Type: a/b\r\ncontent-length: 2\r\n\r\n{}Content-Type: a/b\r\n\r\n{"id":1}\n');
  expect(read(bytes, 3)).toEqual([
    ['framed', {}],
    ['junk', 'Content-Type: a/b\r\n\r\n'],
    ['line', { id: 1 }],
  ]);
});
