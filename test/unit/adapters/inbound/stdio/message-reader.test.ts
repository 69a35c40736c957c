import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Found, MessageReader } from '../../../../../src/adapters/inbound/stdio/message-reader.ts';

const ping = (id: number) => ({ jsonrpc: '2.0', id, method: 'ping' });
const line = (message: unknown) => `${JSON.stringify(message)}\n`;
const frame = (message: unknown) => {
  const body = JSON.stringify(message);
  return `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
};

function read(input: string | Uint8Array | readonly Uint8Array[], options = { end: true }): Found[] {
  const found: Found[] = [];
  const reader = new MessageReader((one) => found.push(one));
  const chunks = typeof input === 'string' ? [Buffer.from(input)] : input instanceof Uint8Array ? [input] : input;
  for (const chunk of chunks) reader.push(chunk);
  if (options.end) reader.end();
  return found;
}

const messagesIn = (found: readonly Found[]) => found.flatMap((one) => (one.kind === 'message' ? [one.value] : []));
const brokenIn = (found: readonly Found[]) => found.filter((one) => one.kind === 'broken');

const message = fc
  .record({ id: fc.nat(), text: fc.string({ unit: 'binary' }), pretty: fc.boolean() })
  .map(({ id, text }) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { text: text.toWellFormed() } }));

function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [...ends, bytes.length].map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

describe('laws', () => {
  test('any cut of any mix of messages gives the same messages, in order', () => {
    const part = fc.tuple(message, fc.constantFrom(line, frame), fc.constantFrom('', '\n', '\r\n', ' \n\t', '\uFEFF'));
    fc.assert(
      fc.property(fc.array(part), fc.array(fc.nat()), (parts, places) => {
        const input = parts.map(([value, write, blank]) => `${blank}${write(value)}`).join('');
        const found = read(cut(Buffer.from(input), places));
        expect(found.map((one) => one.kind === 'message' && one.value)).toEqual(parts.map(([value]) => value));
      }),
    );
  });

  test('no JSON in a frame is malformed, whatever its line breaks and texts', () => {
    const text = fc.constantFrom('Content-Length: 5', '}\n{', '[', '{', ',', ':', '7', '\uFEFF');
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 6, stringUnit: 'binary' }),
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
      { numRuns: 1000 },
    );
  });

  test('garbage between messages loses none of them', () => {
    const noise = fc.oneof(
      fc.string({ unit: 'binary', minLength: 1 }),
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

  test('any cut of any bytes gives the same', () => {
    const bytes = fc.constantFrom(
      ...[line(ping(1)), frame(ping(2)), JSON.stringify(ping(3)), 'Content-Length: 40\r\n\r\n', 'Content-Length: 9'],
      ...[
        'Content-Type: a\n',
        'content-',
        'CONTENT-LENGTH: 300\n\n',
        'Content-Length: -1\n\n',
        'x',
        '41',
        'あ',
        '\uFEFF',
      ],
      ...['\r\n', '\n', ' ', '{', '}', '[', ']', '"', ',', ':', '\\', '1', 'null', `${'y'.repeat(5000)}`],
    );
    const toKinds = (found: readonly Found[]) => found.map((one) => ({ ...one, reason: undefined }));
    fc.assert(
      fc.property(fc.array(bytes, { maxLength: 14 }), fc.array(fc.nat()), (parts, places) => {
        const whole = Buffer.from(parts.join(''));
        expect(toKinds(read(cut(whole, places)))).toEqual(toKinds(read(whole)));
      }),
      { numRuns: 5000 },
    );
  });

  test('a frame whose length lies, by however much, loses no message around it', () => {
    fc.assert(
      fc.property(
        message,
        message,
        message,
        fc.integer({ min: -400, max: 4000 }),
        fc.array(fc.nat()),
        (first, lying, last, by, places) => {
          fc.pre(by !== 0);
          const body = JSON.stringify(lying);
          const length = Math.max(0, Buffer.byteLength(body) + by);
          const input = `${frame(first)}Content-Length: ${length}\r\n\r\n${body}${frame(last)}${frame(ping(1))}`;
          expect(messagesIn(read(cut(Buffer.from(input), places)))).toEqual([first, lying, last, ping(1)]);
        },
      ),
    );
  });
});

describe('framing', () => {
  test.each([
    ['a line', line(ping(1)), 'line'],
    ['a frame', frame(ping(1)), 'framed'],
    ['a line with CRLF', `${JSON.stringify(ping(1))}\r\n`, 'line'],
    ['a frame behind LF-only headers', frame(ping(1)).replaceAll('\r\n', '\n'), 'framed'],
    ['a frame with another header first', `Content-Type: application/json\r\n${frame(ping(1))}`, 'framed'],
    ['a header in lower case', frame(ping(1)).toLowerCase(), 'framed'],
    ['a byte order mark before a line', `\uFEFF${line(ping(1))}`, 'line'],
    [
      'a byte order mark inside a frame',
      `Content-Length: ${Buffer.byteLength(JSON.stringify(ping(1))) + 3}\r\n\r\n\uFEFF${JSON.stringify(ping(1))}`,
      'framed',
    ],
    ['a last line without its end', JSON.stringify(ping(1)), 'line'],
  ])('%s is read', (_, input, framing) => {
    expect(read(input)).toEqual([{ kind: 'message', value: ping(1), framing }]);
  });

  test('text that looks like a header, inside a message, is text', () => {
    const tricky = { jsonrpc: '2.0', id: 1, method: 'x', params: { query: 'Content-Length: 5\r\n\r\n{}\n\n' } };
    expect(read(line(tricky) + frame(tricky)).map((one) => one.kind === 'message' && one.value)).toEqual([
      tricky,
      tricky,
    ]);
  });

  test('characters cut between chunks are whole', () => {
    const wide = { jsonrpc: '2.0', id: 1, method: 'x', params: { query: '東京の天気😀' } };
    const bytes = [...Buffer.from(line(wide) + frame(wide))].map((byte) => Uint8Array.of(byte));
    expect(messagesIn(read(bytes))).toEqual([wide, wide]);
  });
});

describe('what cannot be right', () => {
  test.each([
    ['a line that is no JSON', 'not json\n'],
    ['a length that is no number', 'Content-Length: ten\r\n\r\n'],
    ['a negative length', 'Content-Length: -1\r\n\r\n'],
    ['an absurd length', 'Content-Length: 99999999999999999999\r\n\r\n'],
    ['a header without a length', 'Content-Type: application/json\r\n\r\n'],
    ['a header that is none', 'Content-what is this\n'],
    ['an empty frame', 'Content-Length: 0\r\n\r\n'],
    ['garbage right before a header', 'garbage'],
  ])('%s is told once, and the next message is read', (_, garbage) => {
    const found = read(garbage + frame(ping(2)), { end: false });
    expect(brokenIn(found)).toHaveLength(1);
    expect(messagesIn(found)).toEqual([ping(2)]);
  });

  test.each([
    ['a header inside a text', '{"jsonrpc":"2.0","id":5,"method":"ping","x":"set Content-Length: 5",}'],
    ['a header at the end of a text that is cut off', '{"jsonrpc":"2.0","id":5,"x":"set Content-Length: 5'],
    ['a header without a length at its end', '{"jsonrpc":"2.0","id":5,"x":"set Content-Type: text/plain'],
    ['two headers', '{"x":"Content-Type: a Content-Length: 5'],
  ])('one malformed line with %s is reported once, and the next line is read', (_, malformed) => {
    expect(read(`${malformed}\n${line(ping(2))}${line(ping(3))}`, { end: false })).toEqual([
      { kind: 'broken', reason: expect.any(String), framing: expect.any(String) },
      { kind: 'message', value: ping(2), framing: 'line' },
      { kind: 'message', value: ping(3), framing: 'line' },
    ]);
  });

  const withByte = (write: (message: unknown) => string) => Buffer.from(write({ ...ping(1), x: '\xff' }), 'latin1');
  test.each([
    ['a line', withByte(line)],
    ['a frame', withByte((message) => frame(message).replace(/\d+/, (length) => String(Number(length) - 1)))],
  ])('%s that is not UTF-8 is malformed, since an id in it would change', (_, bytes) => {
    const found = read(Buffer.concat([bytes, Buffer.from(frame(ping(2)))]), { end: false });
    expect(brokenIn(found)).toHaveLength(1);
    expect(messagesIn(found)).toEqual([ping(2)]);
  });

  test('the message of a frame with a wrong length is read, and keeps its framing', () => {
    const found = read(`Content-Length: 9\r\n\r\n${JSON.stringify(ping(1))}${frame(ping(2))}`, { end: false });
    expect(found.slice(1)).toEqual([
      { kind: 'message', value: ping(1), framing: 'framed' },
      { kind: 'message', value: ping(2), framing: 'framed' },
    ]);
  });

  test('a frame that claims too much is given up as soon as the next message shows it', () => {
    const found = read(`Content-Length: 100000\r\n\r\n${JSON.stringify(ping(1))}${frame(ping(2))}`, { end: false });
    expect(messagesIn(found)).toEqual([ping(1), ping(2)]);
  });

  test.each([
    ['that opens a list', '['],
    ['that is cut inside an object', '{"jsonrpc":"2.0","id":1,"params":{'],
    ['that is cut behind a comma', '{"jsonrpc":"2.0",'],
    ['that is cut inside a list', '{"params":[1'],
    ['that is cut inside a word', '{"params":tru'],
    ['that is cut inside a text', '{"params":"abc'],
    ['whose brackets do not match', '{"params":[}'],
    ['whose name is no text', '{1'],
    ['that has a colon too many', '{"params"::'],
    ['that is not JSON', 'not json'],
  ])('a frame that claims 256 MiB, %s, hides no line that follows', (_, body) => {
    const found = read(`Content-Length: 268435456\r\n\r\n${body}\n${line(ping(1))}${line(ping(2))}`, { end: false });
    expect(messagesIn(found)).toEqual([ping(1), ping(2)]);
  });

  test('a frame that the end of input cuts short gives its message all the same', () => {
    expect(messagesIn(read(`Content-Length: 500\r\n\r\n${JSON.stringify(ping(1))}`))).toEqual([ping(1)]);
  });

  test('what is JSON but no request is for the next layer to refuse', () => {
    expect(messagesIn(read('123\n[]\n"text"\nnull\n'))).toEqual([123, [], 'text', null]);
  });
});

test('a header that comes byte by byte is read once', () => {
  const reader = new MessageReader(() => {});
  const header = Buffer.from(`content-a:\n${'a:\n'.repeat(2700)}!\n`);
  const started = performance.now();
  for (let round = 0; round < 4; round += 1) for (const byte of header) reader.push(Uint8Array.of(byte));
  expect(performance.now() - started).toBeLessThan(2000);
});

describe('work grows linearly with bytes:', () => {
  /** Each claims all that follows. */
  const framesInFrames = (body: string) => {
    let inner = '';
    for (let frames = 0; frames < 15_000; frames += 1) {
      inner = `Content-Length: ${body.length + inner.length}\r\n\r\n${body}${inner}`;
    }
    return inner;
  };
  test.each([
    ['blanks inside a header', `x Content-Length: a${' '.repeat(1_000_000)}b\n`],
    ['blanks inside a first header', `Content-Length: a${' '.repeat(1_000_000)}b\n`],
    ['headers in one line', `${'content-type: '.repeat(100_000)}\n`],
    ['headers in one text', `Content-Length: 9000000\r\n\r\n"${'Content-Length: 5 '.repeat(100_000)}\n`],
    ['headers that are no headers', 'content-type: a\n'.repeat(100_000)],
    ['frames inside frames', framesInFrames('')],
    ['frames inside lists', framesInFrames('[')],
    ['good frames between bad ones', framesInFrames(frame(ping(1)))],
    ['brackets', `Content-Length: 9000000\r\n\r\n${'['.repeat(2_000_000)}\n`],
    ['blank lines', '\n'.repeat(2_000_000)],
  ])('%s', (_, bytes) => {
    const input = Buffer.from(`${bytes}\n${line(ping(7))}${line(ping(8))}`);
    for (const size of [8192, input.length]) {
      const found: Found[] = [];
      const reader = new MessageReader((one) => found.push(one));
      const started = performance.now();
      for (let at = 0; at < input.length; at += size) reader.push(input.subarray(at, at + size));
      expect(performance.now() - started).toBeLessThan(2000);
      expect(messagesIn(found).slice(-2)).toEqual([ping(7), ping(8)]);
    }
  });
});

test('a message of 16 MB in pieces of 8 kB is read in well under a second', () => {
  const big = { jsonrpc: '2.0', id: 1, method: 'x', params: { text: '東京 "quoted" \\ '.repeat(800_000) } };
  for (const write of [line, frame]) {
    const bytes = Buffer.from(write(big));
    const reader = new MessageReader(() => {});
    const started = performance.now();
    for (let at = 0; at < bytes.length; at += 8192) reader.push(bytes.subarray(at, at + 8192));
    expect(performance.now() - started).toBeLessThan(1000);
  }
});
