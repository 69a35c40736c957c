import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { Dispatcher } from 'undici';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createApiFetch } from '../../src/adapters/outbound/openai/api-fetch.ts';
import { answers, sendsBody, stallsMidStream } from '../support/behaviours.ts';
import { apiPerTest, ask, expectNoListener, openAiSearch, replyOf } from './search-kit.ts';

const api = apiPerTest();
const URL_OF_API = 'http://api.test/v1';

/** Sends nothing. The test plays the part of the connection. */
class ScriptedDispatcher extends Dispatcher {
  readonly sent: Dispatcher.DispatchOptions[] = [];
  readonly aborts: Error[] = [];
  #handler: Dispatcher.DispatchHandler = {};
  readonly #controller: Dispatcher.DispatchController = {
    aborted: false,
    paused: false,
    reason: null,
    abort: (reason) => void this.aborts.push(reason),
    pause: () => {},
    resume: () => {},
  };

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    this.sent.push(options);
    this.#handler = handler;
    return true;
  }

  connects(): void {
    this.#handler.onRequestStart?.(this.#controller, undefined);
  }

  responds(status: number, headers: Record<string, string> = {}): void {
    this.#handler.onResponseStart?.(this.#controller, status, headers);
  }

  sends(chunk: string | Buffer): void {
    this.#handler.onResponseData?.(this.#controller, Buffer.from(chunk));
  }

  ends(): void {
    this.#handler.onResponseEnd?.(this.#controller, {});
  }
}

/** A request whose response has begun, and its dispatcher. */
async function begun({ signal = new AbortController().signal, headers = {} } = {}) {
  const dispatcher = new ScriptedDispatcher();
  const responding = createApiFetch(dispatcher).fetch(URL_OF_API, { signal });
  dispatcher.connects();
  dispatcher.responds(200, headers);
  return { dispatcher, response: await responding, signal };
}

/** Reads one chunk, and leaves the rest. */
async function readOne(body: AsyncIterable<Uint8Array> | null): Promise<string> {
  for await (const chunk of body ?? []) return Buffer.from(chunk).toString();
  return '';
}

test('a silent API is left to the deadline of the call', async () => {
  const dispatcher = new ScriptedDispatcher();
  void createApiFetch(dispatcher).fetch(URL_OF_API);
  expect(dispatcher.sent).toMatchObject([{ headersTimeout: 0, bodyTimeout: 0 }]);
});

test('an abort rejects before there is a connection, and then nothing is sent', async () => {
  const dispatcher = new ScriptedDispatcher();
  const controller = new AbortController();
  const responding = createApiFetch(dispatcher).fetch(URL_OF_API, { signal: controller.signal });
  controller.abort();
  await expect(responding).rejects.toThrow('aborted');
  dispatcher.connects();
  expect(dispatcher.aborts).toHaveLength(1);
  expectNoListener(controller.signal);
});

test('an aborted caller sends nothing', async () => {
  const dispatcher = new ScriptedDispatcher();
  const signal = AbortSignal.abort(new Error('gone'));
  await expect(createApiFetch(dispatcher).fetch(URL_OF_API, { signal })).rejects.toThrow('gone');
  expect(dispatcher.sent).toEqual([]);
});

test('an abort ends the wait for a chunk', async () => {
  const controller = new AbortController();
  const { dispatcher, response } = await begun(controller);
  const reading = response.text();
  dispatcher.sends('a');
  controller.abort();
  await expect(reading).rejects.toThrow('aborted');
  expect(dispatcher.aborts).toHaveLength(1);
  expectNoListener(controller.signal);
});

test('chunks that arrive before they are read are kept, and an interim response is skipped', async () => {
  const dispatcher = new ScriptedDispatcher();
  const responding = createApiFetch(dispatcher).fetch(URL_OF_API);
  dispatcher.connects();
  dispatcher.responds(103);
  dispatcher.responds(201, { 'content-type': 'text/plain' });
  for (const chunk of ['a', 'b']) dispatcher.sends(chunk);
  dispatcher.ends();
  const response = await responding;
  expect([response.status, response.ok, response.headers.get('Content-Type')]).toEqual([201, true, 'text/plain']);
  expect(await response.text()).toBe('ab');
});

test('a reader that leaves leaves no listener, and the connection may be used again if the rest is short', async () => {
  const { dispatcher, response, signal } = await begun();
  dispatcher.sends('a');
  expect(await readOne(response.body)).toBe('a');
  expectNoListener(signal);
  dispatcher.sends('b');
  dispatcher.ends();
  expect(dispatcher.aborts).toEqual([]);
});

test('the connection is closed if the rest is long', async () => {
  const { dispatcher, response } = await begun();
  dispatcher.sends('a');
  await readOne(response.body);
  dispatcher.sends(Buffer.alloc(64 * 1024));
  expect(dispatcher.aborts).toEqual([]);
  dispatcher.sends('b');
  expect(dispatcher.aborts).toHaveLength(1);
});

test('the connection is closed if the rest takes more than a second', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { dispatcher, response } = await begun();
  dispatcher.sends('a');
  await readOne(response.body);
  vi.advanceTimersByTime(999);
  expect(dispatcher.aborts).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(dispatcher.aborts).toHaveLength(1);
});

test('a body that ends before its reader leaves needs no timer', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { dispatcher, response } = await begun();
  dispatcher.sends('a');
  dispatcher.ends();
  await readOne(response.body);
  expect(vi.getTimerCount()).toBe(0);
});

test.each([
  ['gzip', gzipSync],
  ['X-Gzip', gzipSync],
  ['gzip, br', (text: string) => brotliCompressSync(gzipSync(text))],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
] as const)('a body that a proxy compressed with %s is decompressed', async (encoding, compress) => {
  const { dispatcher, response } = await begun({ headers: { 'content-encoding': encoding } });
  const bytes = compress('天気 '.repeat(20_000));
  dispatcher.sends(bytes.subarray(0, 7));
  dispatcher.sends(bytes.subarray(7));
  dispatcher.ends();
  expect(await response.text()).toBe('天気 '.repeat(20_000));
});

test('a compressed body that is damaged fails, and its connection is closed', async () => {
  const { dispatcher, response } = await begun({ headers: { 'content-encoding': 'gzip' } });
  dispatcher.sends('not compressed');
  await expect(response.text()).rejects.toThrow('incorrect header check');
  expect(dispatcher.aborts).toHaveLength(1);
});

test('a stream that does not end after its last event delays no reply', async () => {
  api.reply(stallsMidStream(100, answers('Done.')));
  expect(replyOf(await ask(openAiSearch(api.url))).text).toBe('Done.');
  expect(api.openResponses()).toBe(1);
});

test('a byte order mark is not a part of a stream', async () => {
  const event = { type: 'response.completed', response: { status: 'completed', output: [] } };
  api.reply(sendsBody({ body: `\uFEFFdata: ${JSON.stringify(event)}\n\n` }));
  expect((await ask(openAiSearch(api.url, { maxRetries: 0 }))).isOk()).toBe(true);
});
