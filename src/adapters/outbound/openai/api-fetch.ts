import type { Readable } from 'node:stream';
import { Agent, type Dispatcher } from 'undici';

/** What is read of a response. A `Response` of `fetch` is one, too. */
export interface ApiResponse {
  readonly status: number;
  readonly ok: boolean;
  readonly headers: { get(name: string): string | null | undefined };
  readonly body: ByteStream | null;
  text(): Promise<string>;
}

/** The part of a web stream that is used. */
export interface ByteStream {
  getReader(): ByteReader;
}

export type ByteReader = Pick<ReadableStreamDefaultReader<Uint8Array>, 'read' | 'cancel'>;

/** Sends requests to the API. */
export interface ApiFetch {
  readonly fetch: typeof fetch;
  /** Closes the connections. */
  readonly close: () => Promise<void>;
}

/**
 * A `fetch` for the `openai` package, with a Node.js stream as the body: the web streams of Node's own take more time than everything else in
 * a short call. It follows no redirects, so that a question goes only to the API that was configured, and decompresses nothing.
 */
export function createApiFetch(dispatcher: Dispatcher = new Agent()): ApiFetch {
  const apiFetch = async (url: string, { method, headers, body, signal }: RequestInit): Promise<ApiResponse> => {
    const { origin, pathname, search } = new URL(url);
    const response = await dispatcher.request({
      origin,
      path: `${pathname}${search}`,
      method: method as Dispatcher.HttpMethod,
      headers: Object.fromEntries(headers as Headers),
      body: (body as string | undefined) ?? null,
      signal,
    });
    return {
      status: response.statusCode,
      ok: response.statusCode >= 200 && response.statusCode < 300,
      headers: new Map(Object.entries(response.headers).map(([name, value]) => [name, String(value)])),
      body: { getReader: () => readerOf(response.body) },
      text: () => response.body.text(),
    };
  };
  return { fetch: apiFetch as unknown as typeof fetch, close: () => dispatcher.destroy() };
}

function readerOf(stream: Readable): ByteReader {
  const chunks = stream[Symbol.asyncIterator]();
  return {
    read: async () => {
      const { done = false, value } = await chunks.next();
      return done ? { done, value: undefined } : { done, value: value as Uint8Array };
    },
    cancel: async () => void stream.destroy(),
  };
}
