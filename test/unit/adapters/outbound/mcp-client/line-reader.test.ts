import { array, assert, integer, property, string } from 'fast-check';
import { expect, test } from 'vitest';
import { LineReader } from '../../../../../src/adapters/outbound/mcp-client/line-reader.ts';
import type { MessageEnds } from '../../../../../src/adapters/outbound/mcp-client/message-bytes.ts';

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
