import { describe, expect, test } from 'vitest';
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

describe('a message of 300,000 objects', () => {
  const message = (id: number) => `{"jsonrpc":"2.0","id":${id},"result":{"a":[${'{},'.repeat(300_000)}{}]}}`;

  /** What is delivered in place of the response to a request; undefined if that is read. `isGet`: it arrives on the stream of the SSE transport. */
  async function substitute(method: string, contentType: string, isGet: boolean) {
    const delivered: unknown[] = [];
    const isStream = contentType === 'text/event-stream';
    const text = isStream ? `data: ${message(1)}\n\n` : message(1);
    const limited = remoteFetch({
      fetch: (_, init) =>
        Promise.resolve(
          new Response(isGet === (init?.method === 'POST') ? null : text, { headers: { 'content-type': contentType } }),
        ),
      maxBytes: 10_000_000,
      deliver: (message) => delivered.push(message),
      onStreamEnd: isGet ? () => {} : undefined,
    });
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method });
    const posted = await limited('http://localhost', { method: 'POST', body });
    const { body: read } = isGet ? await limited('http://localhost', { method: 'GET' }) : posted;
    const length = await new Response(read).text().then(
      (text) => text.length,
      () => 0,
    );
    return length > 900_000 ? undefined : delivered[0];
  }

  test.each([
    ['application/json', false],
    ['text/event-stream', false],
    ['text/event-stream', true],
  ] as const)(
    'is read if it is the result of a call, and not if it is a list (%s, SSE transport: %s)',
    async (type, isGet) => {
      expect(await substitute('tools/call', type, isGet)).toBeUndefined();
      expect(await substitute('tools/list', type, isGet)).toMatchObject({
        id: 1,
        error: { message: expect.stringContaining('for a list') },
      });
    },
  );
});

describe('of a stream of events', () => {
  /** What the client gets, if the server writes these chunks. */
  async function passedOn(...chunks: readonly string[]): Promise<string> {
    const body = ReadableStream.from(chunks.map((chunk) => Buffer.from(chunk)));
    const fetch = async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    const limited = remoteFetch({ fetch, maxBytes: 1000, deliver: () => {}, onStreamEnd: () => {} });
    const { body: read } = await limited('http://localhost', { method: 'GET' });
    let text = '';
    try {
      for await (const part of read ?? []) text += Buffer.from(part).toString();
    } catch (error) {
      return `${text}! ${(error as Error).message}`;
    }
    return text;
  }
  const FAILS = '! it sent an event that is too large, or whose data has several lines';

  test.each([
    ['id: 1\ndata: {}\n\n', 'id: 1\ndata: \n\n'],
    ['event: message\r\ndata: {}\r', '\n\r', '\ndata: {}\r\n\r\n'],
    [': data: x\ndata2: x\ndata: {}\n\n'],
    ['data: {}\ndata: \n\ndata\ndata:\ndata: {}\n\n'],
  ])('events with one line of data are passed on (%j)', async (...chunks) => {
    expect(await passedOn(...chunks)).toBe(chunks.join(''));
  });

  test.each([['data: [\ndata: ]\n\n'], ['data: 1\nid: 1\ndata: 2\n\n'], ['data:[\r', '\ndata:]\n\n']])(
    'one with two ends it (%j)',
    async (...chunks) => {
      const text = await passedOn(...chunks);
      expect(text.match(/data:/g)).toHaveLength(1);
      expect(text).toContain(FAILS);
    },
  );

  test.each([['data: 1\r\r\n'], ['data: 1\rdata: 2\n\n'], ['data: 1\r', 'data: 2\n\n'], ['\rdata: 1\n\n']])(
    'a carriage return within a line ends it (%j)',
    async (...chunks) => {
      expect(await passedOn('data: 0\n\n', ...chunks)).toBe(`data: 0\n\n${FAILS}`);
    },
  );
});
