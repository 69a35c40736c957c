import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { answers, sendsBody } from '../support/behaviours.ts';
import { startFakeApi } from '../support/fake-api.ts';
import { apiPerTest, ask, errorOf, openAiSearch, replyOf } from './search-kit.ts';

const api = apiPerTest();

// S35
describe('a redirect', () => {
  test.each([302, 307])('with status %i is not followed: the question goes to no other server', async (status) => {
    const other = await startFakeApi({ always: answers('From another server.') });
    onTestFinished(() => other.close());
    const location = `${other.url}/responses?api-key=secret`;
    api.reply(sendsBody({ status, headers: { location }, body: '' }));
    const error = errorOf(await ask(openAiSearch(api.url)));
    expect(error).toEqual({
      kind: 'unreadable_reply',
      detail: `it redirects to ${other.url}/responses, which is not followed`,
    });
    expect(other.requests).toEqual([]);
    expect(api.requests).toHaveLength(1);
  });
});

describe('a response that is larger than 16 MiB after decompression', () => {
  const LARGE = Buffer.alloc(40 * 1024 * 1024, 'x');
  const headers = { 'content-encoding': 'gzip' };

  test.each([
    ['as JSON', 'application/json', gzipSync(LARGE)],
    ['as an event', 'text/event-stream', gzipSync(Buffer.concat([Buffer.from('data: '), LARGE]))],
    [
      'as lines of an event',
      'text/event-stream',
      gzipSync(Buffer.from('data: xxxxxxxxxxxxxxxxxxxxxxxx\n'.repeat(1_000_000))),
    ],
  ])('%s is not read', async (_, contentType, body) => {
    api.reply(sendsBody({ contentType, headers, body }));
    const error = errorOf(await ask(openAiSearch(api.url)));
    expect(error).toEqual({ kind: 'unreadable_reply', detail: 'it is larger than 16 MiB' });
    expect(api.requests).toHaveLength(1);
  });
});

test.each([
  ['gzip', gzipSync],
  ['GZIP', gzipSync],
  ['x-gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  ['identity', Buffer.from],
  ['constructor', Buffer.from],
])('a response with the encoding %s is read', async (encoding, compress) => {
  const body = compress(
    JSON.stringify({ output: [{ type: 'message', content: [{ type: 'output_text', text: 'Hello.' }] }] }),
  );
  api.reply(sendsBody({ contentType: 'application/json', headers: { 'content-encoding': encoding }, body }));
  expect(replyOf(await ask(openAiSearch(api.url))).text).toBe('Hello.');
});

test('a byte order mark before a response in JSON is ignored', async () => {
  const json = JSON.stringify({ output: [{ type: 'message', content: [{ type: 'output_text', text: 'Hello.' }] }] });
  api.reply(sendsBody({ contentType: 'application/json', body: `\uFEFF${json}` }));
  expect(replyOf(await ask(openAiSearch(api.url))).text).toBe('Hello.');
});
