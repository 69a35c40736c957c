import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { Agent, type Dispatcher } from 'undici';
import { readBytes } from '../network/read-bytes.ts';

/** A request of this program, or of the `openai` package. */
interface ApiRequest {
  readonly method?: Dispatcher.HttpMethod;
  readonly headers?: Headers | Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

/** The part of `fetch` that is used here and by the `openai` package. Leaves no listener on the signal after the body was read or left. */
export type ApiFetch = (url: string, request?: ApiRequest) => Promise<ApiResponse>;

/**
 * A `fetch` for the API over a dispatcher. Redirects are not followed: questions are for the configured API only. The deadline of the call ends
 * the wait for a silent API. `close` closes the connections.
 */
export function createApiFetch(dispatcher: Dispatcher = new Agent()) {
  const apiFetch: ApiFetch = (url, { method = 'GET', headers = {}, body = null, signal } = {}) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const { origin, pathname, search } = new URL(url);
      const onResponse = (response: ApiResponse) => {
        const refusal = refusalOf(response, url);
        if (refusal === undefined) return resolve(response);
        reject(refusal);
        void exchange.return();
      };
      const exchange = new ApiExchange(signal, onResponse, reject);
      const path = `${pathname}${search}`;
      dispatcher.dispatch({ origin, path, method, headers, body, headersTimeout: 0, bodyTimeout: 0 }, exchange);
    });
  return { fetch: apiFetch, close: () => dispatcher.destroy() };
}

function refusalOf({ status, headers }: ApiResponse, url: string): RefusedResponse | undefined {
  const location = headers.get('location');
  if (status < 300 || status >= 400 || location === null) return undefined;
  return new RefusedResponse(`it redirects to ${withoutQuery(location, url)}, which is not followed`);
}

/** A URL without its query and user, which may contain secrets. */
function withoutQuery(location: string, base: string): string {
  if (!URL.canParse(location, base)) return 'a malformed URL';
  const { protocol, host, pathname } = new URL(location, base);
  return `${protocol}//${host}${pathname}`;
}

/** Maximum number of bytes of a body, and of characters of an event: far beyond any answer, but not too much for a small machine. */
export const MAX_LENGTH = 16 * 1024 * 1024;
export const TOO_LARGE = 'it is larger than 16 MiB';

/** How many bytes and milliseconds the rest of a body may take after its reader has left, so that the connection can be used again. */
const REST_BYTES = 64 * 1024;
const REST_MS = 1000;

/** A response that is not read to its end. The message completes "The response could not be read: ...". */
export class RefusedResponse extends Error {}

/** The part of a `Response` that is read here and by the `openai` package. */
export interface ApiResponse extends Pick<Response, 'status' | 'ok' | 'headers' | 'text'> {
  readonly body: AsyncIterable<Uint8Array> | null;
}

type Chunk = IteratorResult<Uint8Array, undefined>;

const END: Chunk = { done: true, value: undefined };

/** No compression is requested, but some proxies compress everything. */
const DECOMPRESSORS: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/**
 * One request of undici and its response. The body is an iterator over its chunks, because a stream takes longer than a short response. A reader
 * that leaves before the end gives up the rest.
 */
export class ApiExchange implements Dispatcher.DispatchHandler, AsyncIterableIterator<Uint8Array, undefined> {
  readonly #signal: AbortSignal | undefined;
  readonly #onResponse: (response: ApiResponse) => void;
  readonly #chunks: Uint8Array[] = [];
  /** Passes the next chunk to the reader that waits for it. */
  #onChunk: ((chunk: Chunk) => void) | undefined;
  /** Rejects what waits: the request for its response, or the reader for a chunk. */
  #onError: (error: Error) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #decompressor: Transform | undefined;
  #error: Error | undefined;
  #isOver = false;
  /** The number of bytes that may still come; infinite until the reader leaves. */
  #restBytes = Number.POSITIVE_INFINITY;
  #restTimer: NodeJS.Timeout | undefined;

  constructor(
    signal: AbortSignal | undefined,
    onResponse: (response: ApiResponse) => void,
    onError: (error: Error) => void,
  ) {
    this.#signal = signal;
    this.#onResponse = onResponse;
    this.#onError = onError;
    signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#error !== undefined) controller.abort(this.#error);
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    received: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    // An interim response, such as 103.
    if (status < 200) return;
    const headers = new Headers(Object.entries(received).map(([name, value]) => [name, String(value)]));
    this.#decode(headers.get('content-encoding') ?? '');
    const ok = status >= 200 && status < 300;
    this.#onResponse({ status, ok, headers, body: this, text: () => textOf(this) });
  }

  /** Several encodings are listed in the order in which they were applied. */
  #decode(encodings: string): void {
    const names = encodings
      .toLowerCase()
      .split(',')
      .map((name) => name.trim());
    const steps = names.reverse().flatMap((name) => DECOMPRESSORS.get(name)?.() ?? []);
    for (const step of steps) step.on('error', (error) => this.#stop(error));
    steps.reduce<Transform | undefined>((before, step) => before?.pipe(step) ?? step, undefined);
    this.#decompressor = steps[0];
    steps
      .at(-1)
      ?.on('data', (chunk: Buffer) => this.#push(chunk))
      .on('end', () => this.#end());
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#restBytes -= chunk.length;
    if (this.#restBytes < 0) this.#onAbort();
    else if (this.#decompressor !== undefined) this.#decompressor.write(chunk);
    else this.#push(chunk);
  }

  onResponseEnd(): void {
    if (this.#decompressor === undefined) this.#end();
    else this.#decompressor.end();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#fail(error);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Chunk> {
    const value = this.#chunks.shift();
    if (value !== undefined) return Promise.resolve({ done: false, value });
    if (this.#error !== undefined) return Promise.reject(this.#error);
    if (this.#isOver) return Promise.resolve(END);
    return new Promise((resolve, reject) => {
      this.#onChunk = resolve;
      this.#onError = reject;
    });
  }

  /** Reads no more. The rest may come for a limited time, unless it is large. */
  async return(): Promise<Chunk> {
    this.#signal?.removeEventListener('abort', this.#onAbort);
    this.#chunks.length = 0;
    if (this.#isOver) return END;
    this.#restBytes = REST_BYTES;
    this.#restTimer = setTimeout(this.#onAbort, REST_MS).unref();
    return END;
  }

  #push(value: Uint8Array): void {
    if (Number.isFinite(this.#restBytes)) return;
    const onChunk = this.#onChunk;
    this.#onChunk = undefined;
    if (onChunk === undefined) this.#chunks.push(value);
    else onChunk({ done: false, value });
  }

  readonly #onAbort = (): void => this.#stop(new Error('aborted'));

  #stop(error: Error): void {
    this.#fail(error);
    this.#controller?.abort(error);
  }

  #fail(error: Error): void {
    if (this.#isOver) return;
    this.#error = error;
    this.#onError(error);
    this.#end();
  }

  #end(): void {
    this.#isOver = true;
    this.#signal?.removeEventListener('abort', this.#onAbort);
    clearTimeout(this.#restTimer);
    this.#decompressor?.destroy();
    this.#onChunk?.(END);
  }
}

/** The text of a body. */
export async function textOf(body: AsyncIterable<Uint8Array> | null): Promise<string> {
  const { bytes, isCut } = await readBytes(body, MAX_LENGTH);
  if (isCut) throw new RefusedResponse(TOO_LARGE);
  return new TextDecoder().decode(bytes);
}
