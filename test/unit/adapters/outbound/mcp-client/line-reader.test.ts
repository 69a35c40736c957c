import { array, assert, integer, property, string } from 'fast-check';
import { expect, test } from 'vitest';
import { LineReader, type ReadLine } from '../../../../../src/adapters/outbound/mcp-client/line-reader.ts';
import { cpuMs } from '../../../../support/cpu-time.ts';

type Line = { readonly text: string } | Exclude<ReadLine, { readonly chunks: unknown }>;

function readAll(bytes: Buffer, sizes: readonly number[], maxBytes: number): readonly Line[] {
  const lines: ReadLine[] = [];
  const reader = new LineReader(maxBytes, ({ head }) =>
    head.startsWith('{"id":1,') ? 'call' : head.startsWith('{"id":2,') ? 'list' : 'other',
  );
  let start = 0;
  for (let index = 0; start < bytes.length; index += 1) {
    const size = sizes[index % sizes.length] ?? 1;
    lines.push(...reader.linesOf(bytes.subarray(start, start + size)));
    start += size;
  }
  return lines.map((line) => ('chunks' in line ? { text: Buffer.concat(line.chunks).toString() } : line));
}

const text = string({ unit: 'grapheme', maxLength: 40 }).map((line) => line.replaceAll('\n', ''));
const sizes = array(integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 10 });

test('reads the same lines, however they are divided into chunks', () => {
  assert(
    property(array(text, { maxLength: 20 }), sizes, (lines, sizes) => {
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
      expect(readAll(bytes, sizes, 1000)).toEqual(lines.map((text) => ({ text })));
    }),
  );
});

test('reads only the start and the end of a line that is too long, and the lines around it', () => {
  assert(
    property(integer({ min: 1, max: 5000 }), integer({ min: 256, max: 3000 }), sizes, (length, maxBytes, sizes) => {
      const long = Array.from({ length }, (_, index) => String.fromCharCode(97 + (index % 26))).join('');
      const [before, read, after] = readAll(Buffer.from(`a\n${long}\nb\n`), sizes, maxBytes);
      expect([before, after]).toEqual([{ text: 'a' }, { text: 'b' }]);
      if (read === undefined || !('head' in read)) {
        expect(read).toEqual({ text: long });
        expect(length).toBeLessThanOrEqual(maxBytes);
        return;
      }
      expect(long.startsWith(read.head)).toBe(true);
      expect(long.endsWith(read.tail)).toBe(true);
      expect([read.head.length, read.tail.length]).toEqual([256, 256]);
    }),
  );
});

test('a line of exactly the maximum is read', () => {
  expect(readAll(Buffer.from('abc\nabcd\n'), [1], 3)).toEqual([
    { text: 'abc' },
    { head: 'abcd', tail: 'abcd', excess: 'too_large' },
  ]);
});

test('reads only the start and the end of a line that nests too deeply, and the lines around it', () => {
  const nested = (levels: number) => `{"id":1,"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)},"b":2}`;
  const [before, read, after] = readAll(Buffer.from(`a\n${nested(1001)}\n${nested(1000)}\n`), [7], 10_000);
  expect([before, after]).toEqual([{ text: 'a' }, { text: nested(1000) }]);
  expect(read).toEqual({ head: nested(1001).slice(0, 256), tail: nested(1001).slice(-256), excess: 'too_deep' });
});

test('reads only the start and the end of a line with too many objects, lists and members', () => {
  const withParts = (parts: number) => `{"id":1,"a":[${'{},'.repeat(parts - 5)}{}]}`;
  const [read, within] = readAll(
    Buffer.from(`${withParts(1_250_001)}\n${withParts(1_250_000)}\n`),
    [65_536],
    20_000_000,
  );
  expect(read).toMatchObject({ head: withParts(1_250_001).slice(0, 256), excess: 'too_many_parts' });
  expect(within).toEqual({ text: withParts(1_250_000) });
});

test.each([
  [2, 250_000, 'too_many_parts_of_list'],
  [3, 20_000, 'too_many_parts'],
] as const)(
  'reads only the start and the end of a line with fewer, if it is not the result of a call: %i',
  (id, max, excess) => {
    const withParts = (id: number, parts: number) => `{"id":${id},"a":[${'{},'.repeat(parts - 5)}{}]}`;
    const [result, most, other] = readAll(
      Buffer.from(`${withParts(1, max + 1)}\n${withParts(id, max)}\n${withParts(id, max + 1)}\n`),
      [65_536],
      20_000_000,
    );
    expect(result).toEqual({ text: withParts(1, max + 1) });
    expect(most).toEqual({ text: withParts(id, max) });
    const line = withParts(id, max + 1);
    expect(other).toEqual({ head: line.slice(0, 256), tail: line.slice(line.length - 256), excess });
  },
);

test('reads numbers in lists of any length only in the result of a call', () => {
  const numbers = (id: number, commas: number) => `{"id":${id},"a":[${'1,'.repeat(commas - 1)}1]}`;
  const most = 8 * 20_000;
  const lines = [numbers(1, 4_000_000), numbers(2, most + 1), numbers(3, most), numbers(3, most + 1)];
  const read = readAll(Buffer.from(`${lines.join('\n')}\n`), [65_536], 20_000_000);
  expect(read.slice(0, 3)).toEqual(lines.slice(0, 3).map((text) => ({ text })));
  expect(read[3]).toMatchObject({ excess: 'too_many_parts' });
  const list = readAll(Buffer.from(`${numbers(2, 8 * 250_000 + 1)}\n`), [65_536], 20_000_000);
  expect(list).toMatchObject([{ excess: 'too_many_parts_of_list' }]);
});

test('the end of a long line costs little, because each chunk was looked at when it arrived', () => {
  const chunk = Buffer.from('{"a":[1,2]},'.repeat(5000));
  const reader = new LineReader(10_000_000, () => 'call');
  let lines = 0;
  const timeOf = (bytes: Buffer) =>
    cpuMs(() => {
      lines += [...reader.linesOf(bytes)].length;
    });
  let chunksMs = 0;
  for (let times = 0; times < 100; times += 1) chunksMs += timeOf(chunk);
  expect(timeOf(Buffer.from('\n'))).toBeLessThan(chunksMs / 2);
  expect(lines).toBe(1);
});
