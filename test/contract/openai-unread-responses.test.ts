import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createApiFetch } from '../../src/adapters/outbound/openai/api-fetch.ts';
import { OpenAiProbe } from '../../src/adapters/outbound/openai/openai-probe.ts';
import { createRedactor } from '../../src/domain/values/redaction.ts';
import { answers, sendsBody } from '../support/behaviours.ts';
import { startFakeApi } from '../support/fake-api.ts';
import { API_KEY, apiPerTest, ask, errorOf, never, openAiSearch, replyOf } from './search-kit.ts';

const api = apiPerTest();

// S35
describe('a redirect', () => {
  const STATUSES = [301, 302, 303, 307, 308];

  test.each(STATUSES)('with status %i is not followed: the question goes to no other server', async (status) => {
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

  test('to a path of the same server is not followed either', async () => {
    api.reply(sendsBody({ status: 307, headers: { location: '/v1/responses' }, body: '' }), answers('Hello.'));
    expect(errorOf(await ask(openAiSearch(api.url)))).toMatchObject({
      detail: `it redirects to ${api.url}/responses, which is not followed`,
    });
  });

  test.each(STATUSES)('with status %i of the list of models is not followed', async (status) => {
    const other = await startFakeApi();
    const server = createServer((_, response) => response.writeHead(status, { location: other.url }).end());
    onTestFinished(async () => {
      server.close();
      await other.close();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const options = {
      baseUrl,
      apiKey: API_KEY,
      apiKeyVariable: 'OPENAI_API_KEY',
      route: 'api',
      fetch: createApiFetch().fetch,
    };
    const probe = new OpenAiProbe({ ...options, redactor: createRedactor() });
    for (const outcome of [await probe.reach(never()), await probe.findModel('gpt-5.2', never())])
      expect(errorOf(outcome)).toMatchObject({
        kind: 'unreadable_reply',
        detail: expect.stringContaining('redirects'),
      });
    expect(other.requests).toEqual([]);
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
    [
      'as many items',
      'text/event-stream',
      gzipSync(
        Buffer.from(`event: response.output_item.done\ndata: {"item":{"x":"${'x'.repeat(1000)}"}}\n\n`.repeat(20_000)),
      ),
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
