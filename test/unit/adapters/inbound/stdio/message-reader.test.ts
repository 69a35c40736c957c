import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MessageReader, type ReadEvent } from '../../../../../src/adapters/inbound/stdio/message-reader.ts';
import { anyCharacter } from '../../../../support/any-text.ts';
import { runs } from '../../../../support/sized.ts';

const ping = (id: number) => ({ jsonrpc: '2.0', id, method: 'ping' });
const line = (message: unknown) => `${JSON.stringify(message)}\n`;
const frame = (message: unknown) => {
  const body = JSON.stringify(message);
  return `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
};

function read(input: string | Buffer | readonly Buffer[], options = { end: true }): ReadEvent[] {
  const found: ReadEvent[] = [];
  const reader = new MessageReader((one) => found.push(one));
  const chunks = typeof input === 'string' ? [Buffer.from(input)] : Buffer.isBuffer(input) ? [input] : input;
  for (const chunk of chunks) reader.push(chunk);
  if (options.end) reader.end();
  return found;
}

const messagesIn = (found: readonly ReadEvent[]) => found.flatMap((one) => (one.kind === 'message' ? [one.value] : []));
const malformedIn = (found: readonly ReadEvent[]) => found.filter((one) => one.kind === 'malformed');

const message = fc
  .record({ id: fc.nat(), text: fc.string({ unit: anyCharacter }), pretty: fc.boolean() })
  .map(({ id, text }) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { text: text.toWellFormed() } }));

function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [...ends, bytes.length].map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

describe('laws', () => {
  test('messages are read in order, regardless of how their bytes are split', () => {
    const part = fc.tuple(message, fc.constantFrom(line, frame), fc.constantFrom('', '\n', '\r\n', ' \n\t', '\uFEFF'));
    fc.assert(
      fc.property(fc.array(part), fc.array(fc.nat()), (parts, places) => {
        const input = parts.map(([value, write, blank]) => `${blank}${write(value)}`).join('');
        const found = read(cut(Buffer.from(input), places));
        expect(found.map((one) => one.kind === 'message' && one.value)).toEqual(parts.map(([value]) => value));
      }),
    );
  });

  test('any JSON in a frame is read, regardless of its line breaks and strings', () => {
    const text = fc.constantFrom('Content-Length: 5', '}\n{', '[', '{', ',', ':', '7', '\uFEFF');
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 6, stringUnit: anyCharacter }),
      fc.array(fc.dictionary(text, fc.oneof(text, fc.nat()))),
    );
    const indents = fc.constantFrom(undefined, 1, '\t');
    fc.assert(
      fc.property(
        value,
        indents,
        fc.constantFrom('\n', '\r\n', ' \n\n'),
        fc.array(fc.nat()),
        (json, indent, lf, places) => {
          const body = `${lf}${JSON.stringify(json, undefined, indent).replaceAll('\n', lf)}${lf}`;
          const bytes = Buffer.from(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
          expect(read(cut(bytes, places))).toEqual([{ kind: 'message', value: JSON.parse(body), framing: 'framed' }]);
        },
      ),
      { numRuns: runs(400) },
    );
  });

  test('malformed input between messages does not affect them', () => {
    const noise = fc.oneof(
      fc.string({ unit: anyCharacter, minLength: 1 }),
      fc.constantFrom(
        'Content-Length: -5\r\n\r\n',
        'Content-Length: x\n\n',
        'Content-Type: a\r\n\r\n',
        'Content-',
        '{"a":',
        '}]',
        '123',
      ),
    );
    const garbage = noise.map((text) => `${text}\n`);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(garbage, message, fc.constantFrom(line, frame))),
        fc.array(fc.nat()),
        (parts, places) => {
          const input = parts.map(([before, value, write]) => `${before}${write(value)}\n`).join('');
          const found = messagesIn(read(cut(Buffer.from(input), places)));
          const wanted = new Set(parts.map(([, value]) => JSON.stringify(value)));
          expect(found.map((value) => JSON.stringify(value)).filter((text) => wanted.has(text))).toEqual(
            parts.map(([, value]) => JSON.stringify(value)),
          );
        },
      ),
    );
  });

  test('any bytes are read the same, regardless of how they are split', () => {
    const bytes = fc.constantFrom(
      ...[line(ping(1)), frame(ping(2)), JSON.stringify(ping(3)), 'Content-Length: 40\r\n\r\n', 'Content-Length: 9'],
      ...['Content-Type: a\n', 'content-', 'CONTENT-LENGTH: 300\n\n', 'Content-Length: -1\n\n', 'x', 'あ', '\uFEFF'],
      ...['\r\n', '\n', ' ', '{', '}', '[', ']', '"', ',', ':', '\\', '1', 'null', `${'y'.repeat(5000)}`],
    );
    const toKinds = (found: readonly ReadEvent[]) => found.map((one) => ({ ...one, reason: undefined }));
    fc.assert(
      fc.property(fc.array(bytes, { maxLength: 14 }), fc.array(fc.nat()), (parts, places) => {
        const whole = Buffer.from(parts.join(''));
        expect(toKinds(read(cut(whole, places)))).toEqual(toKinds(read(whole)));
      }),
      { numRuns: runs(2000) },
    );
  });
});

// S13
describe('framing', () => {
  test.each([
    ['a line', line(ping(1)), 'line'],
    ['a frame after LF-only headers', frame(ping(1)).replaceAll('\r\n', '\n'), 'framed'],
    ['a frame with another header first', `Content-Type: application/json\r\n${frame(ping(1))}`, 'framed'],
    ['a header in lower case', frame(ping(1)).toLowerCase(), 'framed'],
    [
      'a byte order mark inside a frame',
      `Content-Length: ${Buffer.byteLength(JSON.stringify(ping(1))) + 3}\r\n\r\n\uFEFF${JSON.stringify(ping(1))}`,
      'framed',
    ],
    ['a last line without its end', JSON.stringify(ping(1)), 'line'],
  ])('%s is read', (_, input, framing) => {
    expect(read(input)).toEqual([{ kind: 'message', value: ping(1), framing }]);
  });
});

// S14
describe('malformed input', () => {
  test.each([
    ['a line that is not JSON', 'not json\n'],
    ['a length that is not a number', 'Content-Length: ten\r\n\r\n'],
    ['a length that is too large', 'Content-Length: 99999999999999999999\r\n\r\n'],
    ['a header without a length', 'Content-Type: application/json\r\n\r\n'],
    ['a body that is not JSON', 'Content-Length: 8\r\n\r\n{"cut": '],
  ])('%s is reported once, and the next message is read', (_, garbage) => {
    const found = read(garbage + frame(ping(2)), { end: false });
    expect(malformedIn(found)).toHaveLength(1);
    expect(messagesIn(found)).toEqual([ping(2)]);
  });

  test.each([
    ['a header inside a text', '{"jsonrpc":"2.0","id":5,"method":"ping","x":"set Content-Length: 5",}'],
    ['two headers', '{"x":"Content-Type: a Content-Length: 5'],
  ])('one malformed line with %s is reported once, and the next line is read', (_, malformed) => {
    expect(read(`${malformed}\n${line(ping(2))}${line(ping(3))}`, { end: false })).toEqual([
      { kind: 'malformed', reason: expect.any(String), framing: expect.any(String) },
      { kind: 'message', value: ping(2), framing: 'line' },
      { kind: 'message', value: ping(3), framing: 'line' },
    ]);
  });

  test('an empty frame is reported without waiting for more input', () => {
    expect(malformedIn(read('Content-Length: 0\r\n\r\n', { end: false }))).toHaveLength(1);
  });

  test('a line that is not UTF-8 is malformed, since an id in it would change', () => {
    const bytes = Buffer.from(line({ ...ping(1), x: '\xff' }), 'latin1');
    const found = read(Buffer.concat([bytes, Buffer.from(frame(ping(2)))]), { end: false });
    expect(malformedIn(found)).toHaveLength(1);
    expect(messagesIn(found)).toEqual([ping(2)]);
  });

  test('after a header without its end, reading continues with the line that is no field', () => {
    expect(read(`Content-Length: 9\n${line(ping(1))}`)).toEqual([
      { kind: 'malformed', reason: 'an invalid header', framing: 'framed' },
      { kind: 'message', value: ping(1), framing: 'line' },
    ]);
  });

  test('after a frame with a wrong length, reading continues at the next line', () => {
    const found = read(`Content-Length: 9\r\n\r\n${line(ping(1))}${line(ping(2))}${frame(ping(3))}`);
    expect(malformedIn(found).length).toBeGreaterThan(0);
    expect(messagesIn(found)).toEqual([ping(2), ping(3)]);
  });

  test.each(['Content-Length: 500\r\n\r\n{}', 'Content-Length: 500\r\n'])(
    'the input that ends inside a frame is reported: %j',
    (input) => {
      expect(read(input)).toEqual([{ kind: 'malformed', reason: 'the input ended inside a frame', framing: 'framed' }]);
    },
  );

  test('a message that nests too deeply is reported, and those before and after it are read', () => {
    const nested = (levels: number) => ({
      ...ping(2),
      params: JSON.parse(`${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}`) as unknown,
    });
    expect(messagesIn(read(frame(nested(1000))))).toHaveLength(1);
    for (const [input, framing, what] of [
      [frame(nested(1001)), 'framed', 'a frame whose body'],
      [`${'['.repeat(100_000)}${']'.repeat(100_000)}\n`, 'line', 'a line that'],
    ] as const) {
      expect(read(line(ping(1)) + input + line(ping(3)))).toEqual([
        expect.objectContaining({ kind: 'message', value: ping(1) }),
        { kind: 'malformed', reason: `${what} nests more than 1000 levels deep`, framing },
        expect.objectContaining({ kind: 'message', value: ping(3) }),
      ]);
    }
  });
});
